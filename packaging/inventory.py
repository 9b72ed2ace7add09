"""What an installation of passk consists of: a table of licences, and an SBOM.

    python packaging/inventory.py                  write packaging/LICENCES.md
    python packaging/inventory.py --sbom sbom.json write a bill of materials (CycloneDX 1.6, JSON)

Run it in an environment in which passk is installed. The versions are those of this environment.
The SBOM contains no time and no random number, so that two runs give the same file.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).parent / "LICENCES.md"
_NAME = re.compile(r"[\w.-]+")
# Classifiers and informal names → SPDX.
_SPDX = {
    "MIT License": "MIT", "MIT": "MIT", "BSD License": "BSD-3-Clause", "BSD": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause", "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0", "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0", "Dual License": "Apache-2.0 OR BSD-3-Clause",
}  # fmt: skip


def dependencies(name: str = "passk-cli") -> list[Distribution]:
    """The installed packages that an installation needs without extras, sorted by name."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for requirement in distribution(waiting.pop()).requires or ():
            needed, _, marker = requirement.partition(";")
            key = _NAME.match(needed)[0].lower().replace("_", "-")  # type: ignore[index]
            if "extra ==" in marker or key in found:
                continue
            try:
                found[key] = distribution(key)
            except PackageNotFoundError:
                continue  # for another system or another version of Python
            waiting.append(key)
    return [found[key] for key in sorted(found)]


def licence_of(package: Distribution) -> str:
    """The licence as an SPDX expression if the package states one, or else in its own words."""
    metadata: Any = package.metadata
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [c for c in metadata.get_all("Classifier") or () if c.startswith("License ::")]
    names = [classifier.rpartition(" :: ")[2] for classifier in classifiers]
    words = metadata.get("License", "").strip().splitlines()[:1]
    for name in (*names, *words):
        if name in _SPDX:
            return _SPDX[name]
    texts = [file.read_text() for file in package.files or () if file.name.startswith("LICEN")]
    if any("Permission is hereby granted, free of charge" in text for text in texts):
        return "MIT"
    return next(iter([*names, *words]), "not stated")


def data_rows() -> Iterator[tuple[str, str]]:
    """File and licence of each file that this project took from another one."""
    text = (ROOT / "sample_data" / "README.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| `.*", text, re.M):
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        yield f"`sample_data/{cells[0].strip('`')}`", cells[-1]
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name, licence in re.findall(r"^\| \[`(.*?)`\]\(gallery/.* \| (.*) \(\[text\]", text, re.M):
        yield f"`docs/gallery/{name}`", licence
    yield "`passk_cli/cli/sample_data/cruxeval.csv`", "MIT, © 2023 CRUXEval Team"
    yield "`passk_cli/charts/fonts`", "OFL-1.1, Liberation fonts"


def licence_page() -> str:
    """The page of licences."""
    rows = [(p.name, p.version, licence_of(p)) for p in dependencies()]
    lines = [
        "# Licences",
        "",
        "`python packaging/inventory.py` writes this page. passk itself has the MIT licence.",
        "",
        "## Packages that an installation contains",
        "",
        "| package | version | licence |",
        "| --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        "## Data and fonts from other projects",
        "",
        "The texts of the licences are in `sample_data/licences` and `passk_cli/charts/fonts`.",
        "",
        "| file | licence |",
        "| --- | --- |",
        *(f"| {file} | {licence} |" for file, licence in data_rows()),
    ]
    return "\n".join(lines) + "\n"


def bill_of_materials() -> dict[str, Any]:
    """The SBOM in the form of CycloneDX 1.6."""
    passk, packages = distribution("passk-cli"), dependencies()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(passk, "application")},
        "components": [_component(package, "library") for package in packages],
        "dependencies": [
            {"ref": _ref(passk), "dependsOn": [_ref(package) for package in packages]},
            *({"ref": _ref(package)} for package in packages),
        ],
    }


def _component(package: Distribution, kind: str) -> dict[str, Any]:
    licence = licence_of(package)
    stated = {"expression": licence} if _is_spdx(licence) else {"license": {"name": licence}}
    return {
        "type": kind, "bom-ref": _ref(package), "name": package.name, "version": package.version,
        "purl": _ref(package), "licenses": [stated],
    }  # fmt: skip


def _is_spdx(licence: str) -> bool:
    return re.fullmatch(r"[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*", licence) is not None


def _ref(package: Distribution) -> str:
    """The address of a package in the form of purl."""
    return f"pkg:pypi/{package.name.lower().replace('_', '-')}@{package.version}"


def main() -> None:
    """Write the page, or the SBOM."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sbom", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.sbom:
        options.sbom.write_text(
            json.dumps(bill_of_materials(), indent=2, ensure_ascii=False) + "\n"
        )
    else:
        TABLE.write_text(licence_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
