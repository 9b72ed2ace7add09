"""What the site has and the repository does not: pages of messages, long lists, and its search.

mkdocs calls these functions while it builds the site (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

# mkdocs imports this file by its path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docs import reference

# A term of the glossary and the first letter of its explanation.
_TERM = re.compile(r"^\*\*(.+?)\*\* — (\w)", re.MULTILINE)
# A section of the navigation that is a page itself: its label only contains an icon, and its title
# follows.
_SECTION = re.compile(
    r'(<label [^>]*id="__nav_[\d_]+_label"[^>]*>\s*<span class="md-nav__icon md-icon")'
    r'(></span>(?:(?!<label).)*<label class="md-nav__title"[^>]*>\s*<span[^>]*></span>\s*)'
    r"([^<]*[^<\s])",
    re.DOTALL,
)


def on_files(files: Files, *, config: Any) -> Files:
    """Add a page for each family of messages."""
    for family, text in reference.message_pages().items():
        files.append(File.generated(config, f"messages/{family}.md", content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Write the long lists of a page, and link messages to the pages of their families.

    Each term of the glossary becomes a heading, so that the search finds the term first.
    """
    if page.file.src_uri == "glossary.md":
        return _TERM.sub(
            lambda term: f"## {term[1]}\n\n{term[2].upper()}", reference.built(markdown)
        )
    commands = {f"commands/{name}.md": name for name in reference.COMMANDS}
    name = commands.get(page.file.src_uri)
    return reference.built(markdown) + (reference.columns(name) if name else "")


def on_post_page(output: str, **_: Any) -> str:
    """Name the parts of the theme that have no name for a screen reader."""
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    return _SECTION.sub(r'\1 role="img" aria-label="\3"\2\3', output)


def on_post_build(*, config: Any) -> None:
    """Write `docs/search.js` in front of the code that searches, in the worker of the theme."""
    code = Path(__file__).with_name("search.js").read_text()
    (worker,) = Path(config.site_dir, "assets/javascripts/workers").glob("search.*.min.js")
    if not worker.read_text().startswith(code):
        worker.write_text(code + worker.read_text())
