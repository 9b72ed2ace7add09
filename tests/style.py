"""How often what people read breaks a rule of style: sentences by the kind of text, and names.

`python -m tests.style` prints rates per 1,000 words, and those of documentation to learn from.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.words import prose

ROOT = Path(__file__).parents[1]
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`*(\[–\d-])")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_CLASSES = (ast.Module, ast.ClassDef, ast.FunctionDef)
_TEXTS = {"DiagnosticType": "messages and help", "Answer": "messages and help",
          "Option": "messages and help", "OptionWithValue": ""}  # fmt: skip

# A rule → its pattern.  A sentence with one needs a second reading, or sounds translated.
RULES = {
    "opens with Of": r"^Of\b",
    "beside": r"\bbesides?\b",
    "is no": r"(?<![Tt]here )\b(?:is|are) no\b(?! (?:more|longer|less|fewer))",
    "alone": r"(?<!stand-)\balone\b",
    "law": r"(?<![Pp]ower )\blaws?\b(?! of large)",
    "stand, lie": r"\b(?:stands?|lies?) (?:in|at|on|above|below|behind|under)\b",
    "whose": r"\bwhose\b",
    # The option --where and fields named "where" are names and not words of a sentence.
    "where": r"(?<![-{?])\bwhere\b(?![|}])",
    "two semicolons": r";.*;",
}
# Sentences in which a pattern is right: places in formulas, options, "There is no".
ALLOWED = {
    ("pages", "alone"): 1,
    ("pages", "where"): 1,
    ("docstrings", "law"): 3,
    ("docstrings", "whose"): 3,
    ("docstrings", "where"): 8,
    ("docstrings", "two semicolons"): 49,
    ("errors", "two semicolons"): 2,
    ("comments", "whose"): 1,
    ("messages and help", "alone"): 2,
    ("messages and help", "law"): 4,
    ("messages and help", "two semicolons"): 24,
}
# What good documentation has more of: pattern, and the rates of Ruff, sqlite-utils and hyperfine.
GOOD = {
    "you, your": (r"\byour?\b", "9.0, 27.8, 26.6"),
    "for example, such as": (r"\b(?:for example|such as)\b", "4.1, 2.8, 2.2"),
    "semicolons": (r";", "0.6, 0.1, 0.0"),
}
# Pronouns and participles: a variable is a noun for the thing.
NO_NOUNS = frozenset(
    "each own every others other there whole told asked made both none those these them this that"
    " which what such here one ones another given kept said seen found taken left shown wanted"
    " needed known named counted drawn chosen tried held rest some it its they mine theirs ours"
    " yours written put got done meant planned listed called used far near alone apart alike"
    .split()
)  # fmt: skip


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text of at least four words, without tables and headings.

    >>> list(sentences("# Title\\nIt has two. Here are the two sentences."))
    ['Here are the two sentences.']
    """
    for paragraph in _PARAGRAPH.split(text):
        lines = [row for row in paragraph.split("\n") if not row.lstrip().startswith(("|", "#"))]
        for sentence in _END.split(" ".join(" ".join(lines).split())):
            if len(sentence.split()) >= 4 and re.search("[a-z]{3}", sentence):
                yield sentence.lstrip("-*> ")


def pages(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Kind and text of each page."""
    for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        yield "pages", (root / name).read_text()
    for path in sorted((root / "docs").rglob("*.md")):
        yield "pages", path.read_text()


def texts(source: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each docstring, comment, message, option and error of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _CLASSES):
            yield "docstrings", (ast.get_docstring(node) or "").replace("\n\n    ", "\n\n")
        elif isinstance(node, ast.Call):
            calls = getattr(node.func, "id", getattr(node.func, "attr", ""))
            kind = "errors" if calls.endswith("Error") else _TEXTS.get(calls)
            if kind:
                for value in [*node.args, *(k.value for k in node.keywords)]:
                    yield kind, joined(value)
    block: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if not re.match(r"# (?:fmt|type|noqa|pragma)", token.string):
                block.append(token.string.lstrip("# "))
        elif token.type != tokenize.NL and block:
            yield "comments", " ".join(block)
            block = []


def joined(node: ast.AST) -> str:
    """The text of an expression, with X for each value.

    >>> joined(ast.parse("f'{n} rows' + ' left'", mode="eval").body)
    'X rows left'
    """
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(values):
            return "".join(map(joined, values))
        case ast.FormattedValue():
            return "X"
        case ast.BinOp(left, _, right):
            return joined(left) + joined(right)
    return ""


def by_kind(root: Path = ROOT) -> dict[str, set[str]]:
    """Kind of text → its sentences."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for kind, text in pages(root):
        kinds[kind] |= set(sentences(prose(text)))
    for path in sorted((root / "passk_cli").rglob("*.py")):
        for kind, text in texts(path.read_text()):
            kinds[kind] |= set(sentences(text))
    return dict(kinds)


def broken(lines: set[str]) -> dict[str, list[str]]:
    """Rule → the sentences that break it."""
    return {
        rule: sorted(line for line in lines if re.search(pattern, line))
        for rule, pattern in RULES.items()
    }


def names(folder: Path) -> Counter[str]:
    """How often each name is given: to variables, parameters, functions and classes."""
    count: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    count[name] += 1
                case ast.Name(id=name, ctx=ast.Store()):
                    count[name] += 1
    return count


def share_without_noun(count: Counter[str]) -> float:
    """The share of names that are a pronoun or a participle.

    >>> share_without_noun(Counter(found=1, rate=3))
    0.25
    """
    return sum(n for name, n in count.items() if name.strip("_") in NO_NOUNS) / count.total()


def main() -> None:
    """Print the rates of each kind of text, and the share of names that are no nouns."""
    print("per 1,000 words", "sentences", *RULES, *GOOD, sep=" | ")
    for kind, lines in by_kind().items():
        words = sum(len(line.split()) for line in lines)
        text = "\n".join(lines)
        rates = [len(result) for result in broken(lines).values()]
        rates += [len(re.findall(pattern, text, re.I)) for pattern, _ in GOOD.values()]
        print(kind, len(lines), *(f"{1000 * n / words:.1f}" for n in rates), sep=" | ")
    print("others", "", *("0" for _ in RULES), *(rates for _, rates in GOOD.values()), sep=" | ")
    for folder in ("passk_cli", "tests"):
        share = share_without_noun(names(ROOT / folder))
        print(f"{100 * share:.1f} % of the names in {folder} are pronouns or participles")


if __name__ == "__main__":
    main()
