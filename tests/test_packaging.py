"""What a wheel and an sdist contain, and the version that they get from git."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from passk_cli.version import RELEASE, commit_of, read_packaged_version
from tests.conftest import ROOT, Passk

SCRIPT = runpy.run_path(str(ROOT / "packaging" / "version.py"))
build_version: Callable[[Path], str] = SCRIPT["build_version"]


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., str]:
    """Runs git in a repository with one commit of the files that give the version."""
    (tmp_path / "passk_cli").mkdir()
    for name in ("passk_cli/version.py", ".git_archival.txt", ".gitattributes"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())

    def git(*words: str) -> str:
        person = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *person, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    return git


def test_changelog_citation_and_command_name_one_version(passk: Passk) -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    version = passk("--version").out.split()[1]
    assert version.startswith(RELEASE)
    assert re.findall(r"^## \[(\d.*?)\]", changes, re.M)[0] == citation["version"] == RELEASE
    dated = re.findall(rf"^## \[{re.escape(RELEASE)}\] - (\S+)$", changes, re.M)
    assert [str(citation[key]) for key in ("date-released",) if key in citation] == dated


@pytest.mark.long
def test_a_tag_is_the_version_and_other_commits_are_counted(
    tmp_path: Path, clone: Callable[..., str]
) -> None:
    commit = clone("rev-parse", "--short=8", "HEAD")
    assert build_version(tmp_path) == f"{RELEASE}.dev1+g{commit}"
    clone("tag", f"v{RELEASE}")
    assert build_version(tmp_path) == RELEASE
    source = tmp_path / "passk_cli" / "version.py"
    source.write_text(source.read_text() + "\n")
    assert build_version(tmp_path) == f"{RELEASE}.post0+g{commit}.dirty"
    clone("commit", "-q", "-a", "-m", "b")
    later = clone("rev-parse", "--short=8", "HEAD")
    assert build_version(tmp_path) == f"{RELEASE}.post1+g{later}"
    clone("tag", "v99.0")
    with pytest.raises(ValueError, match=r"has the tag v99\.0"):
        build_version(tmp_path)


def test_a_tree_without_a_repository_has_the_version_of_its_release(
    tmp_path: Path, clone: Callable[..., str]
) -> None:
    (tmp_path / ".git").rename(tmp_path / "elsewhere")
    assert build_version(tmp_path) == RELEASE
    (tmp_path / "passk_cli" / "version.txt").write_text("0.1.0.dev3+gabc\n")
    assert build_version(tmp_path) == "0.1.0.dev3+gabc"


def test_an_archive_of_a_commit_names_it(tmp_path: Path, clone: Callable[..., str]) -> None:
    commit, folder = clone("rev-parse", "HEAD")[:8], tmp_path / "unpacked"
    for tag, version in ((None, f"dev0+g{commit}"), (f"v{RELEASE}", "")):
        if tag:
            clone("tag", tag)
        clone("archive", "-o", "tree.zip", "HEAD")
        ZipFile(tmp_path / "tree.zip").extractall(folder)
        assert build_version(folder) == ".".join(filter(None, (RELEASE, version)))


def test_a_clone_on_a_machine_without_git_names_its_commit(
    tmp_path: Path, clone: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = clone("rev-parse", "HEAD")
    version = f"{RELEASE}.dev0+g{commit[:8]}"
    monkeypatch.setenv("PATH", "")
    assert build_version(tmp_path) == version
    monkeypatch.undo()
    clone("pack-refs", "--all")
    monkeypatch.setenv("PATH", "")
    assert build_version(tmp_path) == version
    (tmp_path / ".git" / "HEAD").write_text(commit)
    assert build_version(tmp_path) == version
    (tmp_path / ".git" / "HEAD").write_text("ref: ../../etc/passwd")
    assert build_version(tmp_path) == RELEASE


def test_an_unreleased_build_names_its_commit(tmp_path: Path) -> None:
    assert read_packaged_version(tmp_path / "none") == RELEASE
    (tmp_path / "version.txt").write_text("0.1.0.dev1662+gfd56ea4b\n")
    version = read_packaged_version(tmp_path / "version.txt")
    assert (version, commit_of(version)) == ("0.1.0.dev1662+gfd56ea4b", "fd56ea4b")


@pytest.mark.long
def test_two_builds_are_equal_and_a_build_of_the_sdist_too(tmp_path: Path) -> None:
    for name in ("one", "two"):
        _build(ROOT, tmp_path / name, "wheel")
    _build(ROOT, tmp_path / "source", "sdist")
    (one,), (two,) = ((tmp_path / n).glob("*.whl") for n in ("one", "two"))
    assert (one.name, one.read_bytes()) == (two.name, two.read_bytes())
    names = ZipFile(one).namelist()
    version = ZipFile(one).read("passk_cli/version.txt").decode().strip()
    assert f"passk_cli-{version}-py3" in one.name
    assert any(name.endswith("/share/man/man1/passk.1") for name in names)
    assert {Path(name).parts[0].split("-")[0] for name in names} == {"passk_cli"}
    (sdist,) = (tmp_path / "source").glob("*.tar.gz")
    subprocess.run(["tar", "xzf", str(sdist), "-C", str(tmp_path)], check=True)
    _build(tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "three", "wheel")
    (three,) = (tmp_path / "three").glob("*.whl")
    assert (three.name, three.read_bytes()) == (one.name, one.read_bytes())


def _build(root: Path, folder: Path, kind: str) -> None:
    """Build a wheel or an sdist as a frontend does, without a new environment."""
    folder.mkdir()
    code = f"from hatchling.build import *; build_{kind}({str(folder)!r})"
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, check=True)


def test_the_readme_of_an_index_has_no_relative_link() -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "readme.py"))
    text = (ROOT / "README.md").read_text()
    relative = re.compile(r"\]\((?!https?:|#)|src(?:set)?=\"(?!https?:)")
    assert relative.search(text)
    for source in ("", "https://example.org/passk"):
        page = script["index_readme"](text, source, "0.1.0.dev7+gfd56ea4b.dirty")
        assert not relative.search(page)
        assert page.count(f"{source}/blob/fd56ea4b/") == (source != "") * len(_links(text))


def _links(text: str) -> list[str]:
    return re.findall(r"\]\((?!https?:|#)", text)


@pytest.mark.long
def test_licences_are_listed_and_the_bill_of_materials_names_every_package() -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "inventory.py"))
    names = {package.name.lower() for package in script["dependencies"]()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"] if ";" not in line}  # type: ignore[index]
    assert {name.replace("-", "_") for name in needed} <= {n.replace("-", "_") for n in names}
    page = (ROOT / "packaging" / "LICENCES.md").read_text()
    listed = set(re.findall(r"^\| ([\w.-]+) \|", page.lower(), re.M)) - {"package", "file"}
    assert {name.replace("-", "_") for name in needed} <= {n.replace("-", "_") for n in listed}
    assert page.partition("## Data")[2] == script["licence_page"]().partition("## Data")[2]
    assert not re.search("unknown|not stated", page, re.I)
    bill = script["bill_of_materials"]()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert [component["name"].lower() for component in bill["components"]] == sorted(names)
    references = {component["bom-ref"] for component in bill["components"]}
    assert set(bill["dependencies"][0]["dependsOn"]) == references
    assert bill == script["bill_of_materials"]()


def test_a_row_of_the_table_of_installs_replaces_an_earlier_one(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "check.py"))
    table = tmp_path / "table.md"
    table.write_text(f"Before\n\n{script['HEADER']}\nAfter\n")
    rows = ["| 3.12 | uv | newest | – | 1 | 2 | x |", "| 3.9 | uv | newest | – | 1 | 2 | x |"]
    script["write_table"](table, rows)
    later = rows[0].replace("| 1 |", "| 5 |")
    script["write_table"](table, [later])
    lines = table.read_text().splitlines()
    assert (lines[0], lines[-1], lines[4:-2]) == ("Before", "After", [rows[1], later])


def test_the_formula_contains_the_hash_and_the_dependencies() -> None:
    script = runpy.run_path(str(ROOT / "packaging" / "formula.py"))
    text = script["formula"]("https://example.org/passk_cli-0.1.0.tar.gz", b"content")
    assert sha256(b"content").hexdigest() in text
    assert "@ADDRESS@" not in text
    assert "\n    duckdb>=2.0.1\n" in text


def test_the_conda_recipe_has_the_version_and_the_dependencies_of_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == RELEASE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    run = [line.replace(" ", "").removeprefix("python-") for line in recipe["requirements"]["run"]]
    needed = [line.partition(";")[0] for line in project["dependencies"]]
    assert run == ["python>=3.11", *needed]
    assert recipe["about"]["license_file"] == project["license-files"]


@pytest.mark.parametrize("file", ["packaging/container/Containerfile", ".pre-commit-hooks.yaml"])
def test_containers_and_hooks_never_install_by_name(file: str) -> None:
    assert not re.search(r"pip install [^&|\n]*passk", (ROOT / file).read_text())
