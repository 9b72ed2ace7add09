"""What the site has and the repository does not: pages of messages and long lists.

mkdocs calls these functions while it builds the site (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

# mkdocs imports this file by its path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import reference


def on_files(files: Files, *, config: Any) -> Files:
    """Add a page for each family of messages."""
    for family, text in reference.message_pages().items():
        files.append(File.generated(config, f"messages/{family}.md", content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Write the long lists of a page, and link messages to the pages of their families."""
    commands = {f"commands/{name}.md": name for name in reference.COMMANDS}
    name = commands.get(page.file.src_uri)
    return reference.built(markdown) + (reference.columns(name) if name else "")
