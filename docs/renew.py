"""Renew what README and docs show, by running it.

    python -m docs.renew                         sessions and generated parts of every page, passk.1
    python -m docs.renew README.md docs/json.md  of these
    python -m docs.renew --figures               the pictures as well

Read the diff: what changed there is what users see changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from docs import man, reference, rulebook, schema, sessions


def renew(page: Path) -> bool:
    """Write a page anew; whether it changed."""
    before = page.read_text()
    text = reference.renewed(sessions.renewed(before)[0])
    changed = not sessions.alike(before, text)
    if changed:
        page.write_text(text)
    return changed


def main(arguments: Sequence[str]) -> None:
    """Renew the pages named, or all; name those that changed."""
    figures = "--figures" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--figures"]
    if figures:
        from docs.figures import draw

        draw()
    for made in () if named else (man, schema, rulebook):
        if made.PAGE.read_text() != made.page():
            made.PAGE.write_text(made.page())
            print(made.PAGE.relative_to(sessions.ROOT))
    for page in named or sessions.pages():
        if renew(page):
            print(page.relative_to(sessions.ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
