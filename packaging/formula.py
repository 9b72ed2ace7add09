"""The Homebrew formula of a published sdist, from a template.

python packaging/formula.py ADDRESS dist/passk_cli-0.1.0.tar.gz > passk-cli.rb
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def formula(address: str, sdist: bytes) -> str:
    """The formula.  address : from where Homebrew fetches the sdist.  sdist : its content."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Homebrew's Python is 3.13, which needs what a marker asks for versions before 3.14.
    names = (requirement.partition(";")[0].strip() for requirement in project["dependencies"])
    text = (ROOT / "packaging" / "homebrew" / "passk-cli.rb.in").read_text()
    return (
        text.partition("\n")[2]
        .replace("@ADDRESS@", address)
        .replace("@SHA256@", hashlib.sha256(sdist).hexdigest())
        .replace("@DEPENDENCIES@", "\n".join(f"    {name}" for name in names))
    )


if __name__ == "__main__":
    print(formula(sys.argv[1], Path(sys.argv[2]).read_bytes()), end="")
