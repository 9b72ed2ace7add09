"""Valid files that are mutated, options that are absurd, and what must hold of the answer.

What a mutation did is not asked of the mutation: the file is parsed again, by Python's own json and
csv, and compared with the file it was made from.  See `Law`.  `tests/test_fuzzing.py` runs a slice,
`benchmarks/fuzzing.py` as many cases as wanted.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import zstandard

from passk_cli import read
from passk_cli.__main__ import main
from passk_cli.cli.output import output_option_groups
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.errors import PasskError
from passk_cli.text import is_unprintable
from tests.conftest import jsonl
from tests.files.formats.cells import DATA, Cells, cells, cells_of
from tests.files.formats.test_corrupted import CASES

# Of processor time; a page of all commands is several commands.
MOST_SECONDS, MOST_SECONDS_OF_PAGE = 5.0, 15.0
# Seconds on the clock for a process.
PATIENCE = 120
# No message is longer: what it quotes is cut.
LONGEST_MESSAGE = 4000


@dataclass(frozen=True)
class Seed:
    """A valid file.  form : "lines", "document", "csv" or "packed", which says how it is parsed."""

    name: str
    content: bytes
    form: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.name.rpartition("/")[2]


def seeds() -> list[Seed]:
    """A file of every harness's format, and tables of every shape and packing."""
    return [*_of_harnesses(), *_tables()]


def _of_harnesses() -> Iterator[Seed]:
    options = {fixture: more for fixture, _, more, _ in reversed(CASES)}
    for fixture, more in options.items():
        path, *_ = sorted(DATA.glob(fixture))
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        name = f"{fixture.partition('/')[0]}/{path.name.removesuffix('.gz')}"
        form = "lines" if path.suffix == ".jsonl" else "document"
        yield Seed(name, data, form, {"missing": "fail", "duplicates": "keep"} | more)
    for path in sorted((DATA / "inspect").glob("log*.eval")):
        yield Seed(f"inspect/{path.name}", path.read_bytes(), "packed", {"missing": "fail"})
    whole = DATA / "inspect" / "log_formats.json"
    yield Seed(f"inspect/{whole.name}", whole.read_bytes(), "document", {"missing": "fail"})


# Points vary as scores do: with a few values they would be a setting, and every command would ask.
ROWS: list[dict[str, Any]] = [
    {"model": f"m{m}", "task": f"t{t}", "attempt": a, "passed": (m + t * a) % 3 == 1,
     "points": (5 * m + 3 * t + 7 * a) % 23 / 23, "answer": f"{(t + a) % 2}", "temperature": 0.2}
    for m in range(2) for t in range(3) for a in range(4)
]  # fmt: skip


def _tables() -> Iterator[Seed]:
    frame = pd.DataFrame(ROWS).drop(columns="points")
    records = frame.to_dict("records")
    lists = [{"task": f"t{t}", "results": [True, t == 1, False]} for t in range(4)]
    counts = pd.DataFrame({"task": list("abc"), "n": [5, 4, 9], "c": [0, 4, 3]})
    lines = jsonl(records).encode()
    table = frame.to_csv(index=False).encode()
    yield Seed("rows.jsonl", lines, "lines")
    yield Seed("lists.jsonl", jsonl(lists).encode(), "lines")
    yield Seed("array.json", json.dumps(records, indent=1).encode(), "document")
    yield Seed("outcomes.json", b'{"a": true, "b": false, "c": false}', "document")
    yield Seed("rows.csv", table, "csv")
    yield Seed("rows.tsv", frame.to_csv(index=False, sep="\t").encode(), "csv")
    yield Seed("counts.csv", counts.to_csv(index=False).encode(), "csv")
    yield Seed("rows.jsonl.gz", gzip.compress(lines, mtime=0), "packed")
    yield Seed("rows.csv.zst", zstandard.compress(table), "packed")
    yield Seed("rows.parquet", frame.to_parquet(None), "packed")


# Mutations ---------------------------------------------------------------------------------------

SIGNS = [
    b"\0", b'"', b"\n", b"\r", b",", b"{", b"}", b"]", b"\\", b"\xff", b"1e999", b"\x1a", b"\t",
    b"NaN", b"\xe2\x80\xa8", b"\\u0000", b"'", b":", b"-", b"null", b"\xef\xbb\xbf",
]  # fmt: skip
# Tokens of JSON that stand instead of a value.
TOKENS = [
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "1e-400", "-0", "0.5", "2",
    "-1", "1e5", "null", "true", '"true"', '""', '" "', "[]", "{}", "[[]]", "[true, null]",
    '{"a": {"b": 1}}', '"²"', '"١"', r'"\u0000"', r'"\ud800"', r'"\u001b[2J\u2028"', '"NaN"',
    '"1e400"', "9007199254740993", "9223372036854775808", '"=1+1"', "[" * 10_000 + "]" * 10_000,
    '"' + "x" * 100_000 + '"', '{"' + "k" * 1_000_000 + '": 1}',
]  # fmt: skip
LONG_LINE = '"' + "y" * 10_000_000 + '"'


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3])):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def removed(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + data[place + chance.choice([1, 3, 40]) :]


def inserted(data: bytes, chance: random.Random) -> bytes:
    place = chance.choice([0, len(data), chance.randrange(len(data))])
    return data[:place] + chance.choice(SIGNS) + data[place:]


def copied(data: bytes, chance: random.Random) -> bytes:
    place, second = chance.randrange(len(data)), chance.randrange(len(data))
    return data[:place] + data[second : second + chance.choice([5, 30, 300])] + data[place:]


def recoded(data: bytes, chance: random.Random) -> bytes:
    """Another encoding, a mark of byte order, other line ends, or packed, as it is."""
    text = data.decode("utf-8", "replace")
    return chance.choice([
        lambda: text.encode("utf-16"), lambda: text.encode("utf-32"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.replace(b"\n", b"\r\n"), lambda: data.replace(b"\n", b"\r\n", 3),
        lambda: data.replace(b"\n", b"\r"), lambda: data + b"\n\n \n", lambda: b"\n" + data,
        lambda: gzip.compress(data, mtime=0), lambda: zstandard.compress(data),
        lambda: data.replace(b"\n", b"\n\n"), lambda: data + b"\0" * 512, lambda: b"",
        lambda: data.rstrip(b"\n"),
    ])()  # fmt: skip


def restructured(data: bytes, chance: random.Random) -> bytes:
    """One value of the JSON is another, is gone, comes twice, or has company."""
    try:
        lines = data.decode().splitlines()
        whole = len(lines) < 2 or not lines[0].endswith("}")
        at = chance.randrange(len(lines))
        tree = json.loads(data if whole else lines[at])
    except (ValueError, RecursionError):
        return inserted(data, chance)
    token = LONG_LINE if chance.random() < 0.003 else chance.choice(TOKENS)
    changed = _changed(tree, token, chance)
    if whole:
        return changed.encode(errors="replace")
    lines[at] = changed
    return ("\n".join(lines) + "\n").encode(errors="replace")


def _changed(tree: Any, token: str, chance: random.Random) -> str:
    """The tree as JSON, with one change at a node of any depth."""
    nodes = [tree] if isinstance(tree, dict | list) else []
    for node in nodes:
        children = node.values() if isinstance(node, dict) else node
        nodes += [child for child in children if isinstance(child, dict | list)]
    mark = "@@token@@"
    node = chance.choice([node for node in nodes if node] or [None])
    if isinstance(node, dict):
        key = chance.choice(list(node))
        kind = chance.randrange(5)
        if kind == 0:
            del node[key]
        elif kind == 1:
            node[chance.choice(["zz", "task", "passed", "", "model", "n"])] = mark
        elif kind == 2:
            # The key twice, with the same value or another.
            second = json.dumps(node[key]) if chance.random() < 0.5 else token
            first, node[key] = json.dumps(node[key]), mark
            token = f"{first}, {json.dumps(key)}: {second}"
        else:
            node[key] = mark
    elif isinstance(node, list):
        at = chance.randrange(len(node))
        node[at : at + 1] = chance.choice([[], [mark], [node[at], node[at]], [node[at], mark]])
    else:
        return token
    return json.dumps(tree, ensure_ascii=chance.random() < 0.5).replace(f'"{mark}"', token)


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut off": truncated, "bits flipped": flipped, "bytes removed": removed,
    "signs inserted": inserted, "bytes copied": copied, "encoded or packed anew": recoded,
    "values, keys, records changed": restructured,
}  # fmt: skip


# Laws --------------------------------------------------------------------------------------------


def records(data: bytes, form: str) -> list[Any] | None:
    """What an independent parser reads; None where there is no JSON.  Numbers are their text."""
    text = data.decode("utf-8-sig")
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True,
                               delimiter="\t" if "\t" in text.split("\n")[0] else ","))  # fmt: skip
        return [row for row in rows if any(row)]
    plain = {name: (lambda token: ("number", token)) for name in
             ("parse_int", "parse_float", "parse_constant")}  # fmt: skip
    decoder, at, values = json.JSONDecoder(**plain), 0, []  # type: ignore[arg-type]
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def law(seed: Seed, data: bytes) -> str:
    """What must hold of the cells that are read, if the file is not refused.

    "refused": nothing may be read.  "warned": a warning says so.  "same": the same cells.  "fewer":
    none has more attempts.  "few": three cells differ at most (one is two now, of other names).
    "": anything.
    """
    if seed.form == "packed" or data[:2] == b"\x1f\x8b" or data[:4] == b"\x28\xb5\x2f\xfd":
        return ""
    try:
        try:
            after = records(data, seed.form)
        except json.JSONDecodeError:
            # A mark of byte order is a space, wherever it stands.
            after = records(data.replace(b"\xef\xbb\xbf", b" "), seed.form)
    except UnicodeDecodeError:
        # A table, or what holds one record a line, may be read in another encoding.
        return "warned"
    except (ValueError, csv.Error):
        # A comma after the last member is read over: what stands before it is whole.
        trailing = re.search(rb",\s*[}\]]", data)
        return "" if seed.form == "csv" or trailing else "refused"
    except RecursionError:
        return ""
    before = records(seed.content, seed.form) or []
    if after == before:
        return "same"
    if not after or isinstance(after[0], list) != isinstance(before[0], list):
        return ""
    if seed.form == "document" and not data.lstrip().startswith(b"["):
        return ""
    # The first record can be a header, and promptfoo's tasks are named beside each other.
    if after[0] != before[0] or seed.name.startswith("promptfoo/"):
        return ""
    if len(after) < len(before) and after == before[: len(after)]:
        return "fewer"
    different = sum(first != second for first, second in zip(before, after, strict=False))
    return "few" if len(after) == len(before) and different == 1 else ""


def broken(law: str, before: Cells, after: Cells) -> bool:
    """Whether these cells break a law."""
    if law == "refused":
        return True
    if law == "same":
        # A blank line moves the tasks that are named by their line.
        return before != after and sorted(before.values()) != sorted(after.values())
    if law == "fewer":
        return any(n > before.get(cell, (0, 0))[0] for cell, (n, _) in after.items())
    differ = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return law == "few" and len(differ) > 3


# Cases -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "read", "refused", or what is wrong with it."""

    kind: str
    detail: str = ""

    @property
    def defect(self) -> bool:
        return self.kind not in ("read", "refused")


def try_file(seed: Seed, data: bytes, before: Cells, place: Path) -> Outcome:
    """Read a mutated file; whatever is wrong with the answer."""
    path = place / seed.label
    path.write_bytes(data)
    start = time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):
            counts = read(path, **seed.options)
        after, end, own_values = cells_of(counts), Outcome("read"), law(seed, data)
        warned = any(message.name == "other-encoding" for message in counts.read_facts.messages)
        if not warned if own_values == "warned" else broken(own_values, before, after):
            end = Outcome(f"law {own_values!r} broken", f"{len(before)} → {len(after)} cells")
    except PasskError as error:
        end = _of_message(f"error[{error.name}]: {error}\n", "refused")
    except Exception:
        end = Outcome("internal error", traceback.format_exc(limit=-3))
    return _in_time(end, start)


def _in_time(end: Outcome, start: float, most: float = MOST_SECONDS) -> Outcome:
    seconds = time.process_time() - start
    return Outcome(f"above {most} s", f"{seconds:.1f}") if seconds > most else end


def _of_message(text: str, kind: str) -> Outcome:
    lines = text.removesuffix("\n").split("\n")
    if len(text) > LONGEST_MESSAGE:
        return Outcome("long message", text[:300])
    if any(is_unprintable(sign) for line in lines for sign in line) or not text.startswith(
        "error["
    ):
        return Outcome("message with control signs, or not ours", text[:300])
    # Below an error stand the commands that settle it, and what they read.
    if any(not line.startswith("  ") for line in lines[1:]):
        return Outcome("message of several lines", text[:300])
    return Outcome(kind)


def try_command(words: list[str]) -> Outcome:
    """Run a command line in this process; whatever is wrong with how it ends."""
    # Bytes go to a stream's buffer, which a StringIO has not.
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", "", write_through=True)
    err = io.StringIO()
    start, before = time.process_time(), sys.argv
    sys.argv = ["passk", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        return Outcome("internal error", traceback.format_exc(limit=-3))
    finally:
        sys.argv = before
    most = MOST_SECONDS_OF_PAGE if words[:1] == ["report"] else MOST_SECONDS
    # Columns of tsv stand apart by tabs.
    text = out.buffer.getvalue().decode(errors="replace")  # type: ignore[attr-defined]
    printed = text.replace("\t", "") if "tsv" in words else text
    return _in_time(_of_end(code, printed, err.getvalue()), start, most)


def try_process(words: list[str]) -> Outcome:
    """Run a command line as a process of its own; whatever is wrong with how it ends."""
    command = [sys.executable, "-m", "passk_cli", *words]
    try:
        result = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE)  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome(f"above {PATIENCE} s")
    out, err = (stream.decode(errors="replace") for stream in (result.stdout, result.stderr))
    return _of_end(result.returncode, out.replace("\t", "") if "tsv" in words else out, err)


def _of_end(code: int, out: str, err: str) -> Outcome:
    """What is wrong with an exit code and what was printed."""
    if code not in (0, 1, 2, 3):
        return Outcome("internal error", err[:1000])
    if any(is_unprintable(sign) for sign in out + err if sign not in "\n\x1b"):
        return Outcome("control signs in the output", err[:300])
    if code == 3 and out and "error[" not in err:
        # A verdict that something could not be checked.
        return Outcome("read")
    if code in (2, 3):
        *_, last = err.rpartition("error[")
        return _of_message(f"error[{last}", "refused")
    return Outcome("refused" if code in (2, 3) else "read")


# Options -----------------------------------------------------------------------------------------

# No NUL: no system can hand one over.
ABSURD = [
    "", " ", "0", "-1", "-0", "1", "2", "0.5", "1.5", "nan", "inf", "-inf", "1e999", "1e-400",
    "1" + "0" * 400, "9" * 5000, "9223372036854775808", "²", "١", "1_000", "0x10", "１", "+1",
    "1,000", "\t", "\n", "a\nb", "\x1b[2J", "\u2028", "\u202e", "'", '"', "`", "\\", "%",
    "%s", "{}", "{model}", "{", "$x", "=", "a=b", "=b", "a=", "a=b=c", ",", ",,", "1,2", "1,x",
    "2,1", "*", "?", "[", "m*", "-", "--", "--help", ".", "..", "/dev/null", "/dev/full",
    "no/such/file.csv", "x" * 10_000, "🦜", "é", "pass@1", "pass@2=0.5", "pass@1=nan", "pass^²",
    "gpass@2:0.5", "maj@2", "mean", "pass@" + "9" * 400, "m0", "m1", "task", "model", "task=task",
    "outcome=passed", "score=points", "task=@line", "temperature", "true", "None", "null", "1 = 1",
    "1 +", "passed", "SELECT 1", "); DROP TABLE x; --", "x.csv", "x.json", "x.svg", "x.html",
    "x.docx", "x/y", "\udcff", "a" * 300 + ".csv",
]  # fmt: skip
# What a command cannot do without, and what takes minutes when one asks for it.
NEEDED = {"gate": ["--min", "pass@1=0.1"], "convert": ["--output", "out.csv"],
          "bootstrap": ["--resamples", "50"], "extrapolate": [],
          "report": ["--output", "out.html"]}  # fmt: skip


# Seldom, since a page takes as long as all other commands.
NAMES = [name for name in COMMANDS if name != "report" for _ in range(5)] + ["report"]


def command_line(chance: random.Random, file: str) -> list[str]:
    """A command with one to three of its options, most of absurd values."""
    name = chance.choice(NAMES)
    command = load_command(name)
    edge = (entry for _, options in output_option_groups(command) for entry in options)
    options = [*command.options(), *edge]
    words = [name, *[file] * (chance.random() < 0.95), *NEEDED.get(name, [])]
    for _, option, _, _, base, _ in chance.choices(options, k=chance.choice([1, 1, 2, 3])):
        own_values = [
            *option.allowed_values,
            *(f"{v}" for v in (option.low, option.high) if v is not None),
        ]
        # A million resamples are allowed, and take their time.
        own_values = [value for value in own_values if value != "1000000"]
        value = (
            chance.choice(own_values)
            if own_values and chance.random() < 0.3
            else chance.choice(ABSURD)
        )
        words += [chance.choice(option.flags.split()), *[value] * (base is not bool)]
    return words


def plain_line(chance: random.Random, file: str) -> list[str]:
    """A command without options that it could refuse, in any format."""
    name = chance.choice([name for name in NAMES if load_command(name).file_requirement != "none"])
    more = ["-f", chance.choice(["table", "csv", "json", "markdown", "latex"])]
    more = [] if name in ("convert", "report") else more
    return [name, file, *NEEDED.get(name, []), *more, "--missing", "fail", "--duplicates", "keep"]


def fresh(place: Path) -> None:
    """Empty the folder, but for the rows, and go there."""
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (place / "rows.jsonl").write_text(jsonl(ROWS))
    os.chdir(place)


# Runs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """What was tried and how it ended.  data : of a file."""

    kind: str
    name: str
    outcome: Outcome
    data: bytes = b""


def file_cases(count: int, seed: int, place: Path) -> Iterator[Case]:
    """Mutated files that are read; of tables that still are, one of four is asked a command."""
    sown = seeds()
    known: dict[str, Cells] = {}
    for number in range(count):
        chance = random.Random(f"file {seed} {number}")
        first, kind = chance.choice(sown), chance.choice(list(MUTATIONS))
        if first.name not in known:
            (place / first.label).write_bytes(first.content)
            known[first.name] = cells(place / first.label, **first.options)
        data = MUTATIONS[kind](first.content, chance)
        outcome = try_file(first, data, known[first.name], place)
        name = f"{number}-{first.name.replace('/', '-')}"
        yield Case(f"file: {kind}", name, outcome, data)
        if outcome.kind == "read" and "/" not in first.name and chance.random() < 0.25:
            words = plain_line(chance, str(place / first.label))
            yield Case("command on such a file", shlex.join(words), try_command(words), data)
        (place / first.label).unlink()


# Written files of the user's own: rules, prices, histories, and times.
RULES = b"""level = 0.9
[[suite]]
name = "a"
runs = ["rows.jsonl"]
min = {"pass@1" = 0.1}
attempts = 4
baseline = "m0"
no-regression = true
must-pass = ["t1"]
tier = ["night"]
quarantine = [{task = "t0", until = 2099-12-31, reason = "flaky"}]
[trend]
history = "h.parquet"
acknowledge = "r9"
"""
PRICES = b'["m*"]\ninput = 1.25\noutput = 10\ncached = 0.125\n'
TOML_TOKENS = [
    *TOKENS, "9" * 5000, "0x" + "f" * 5000, "1979-05-27T07:32:00Z", "07:32:00", "0001-01-01", "inf",
    "-nan", "{a = " * 40 + "1" + "}" * 40, "a" + ".b" * 5000, "[" * 3000, '"""', "[[suite]]",
    "true", "[suite]", "[tool.passk]", '"::stop-commands::x"', '"http://me:pw@h.org/p?token=x"',
    "1_000", "[]", '[""]', '"a\\u0000b"', '"../x"', '"/etc/passwd"', '"*"', '"**/../*"', '"-"',
    '"a=b"', "[trend]",
]  # fmt: skip
TIMES = [
    "0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00", "2026-02-30", "2026-11-23T25:00",
    "20261123", "2026-W01-1", "2026-11-23T04:00:00.123456789Z", "2026-11-23T04:00+99:99",
    "-2026-01-01", *ABSURD,
]  # fmt: skip
READERS = ["estimate", "compare", "describe", "curve", "plan", "trend", "bootstrap", "tasks"]


def rewritten(text: bytes, chance: random.Random) -> bytes:
    """TOML with one value, key or line in place of another, or mutated as bytes are."""
    if chance.random() < 0.4:
        return chance.choice(list(MUTATIONS.values()))(text, chance)
    lines = text.decode().splitlines()
    at, token = chance.randrange(len(lines)), chance.choice(TOML_TOKENS)
    key, equals, value = lines[at].partition(" = ")
    line = chance.choice(
        [token, f"{key} = {token}", f"{token} = {value}", f"{lines[at]}\n{lines[at]}"]
    )
    lines[at] = line if equals else token
    return "\n".join(lines).encode(errors="replace")


def written_cases(count: int, seed: int, place: Path) -> Iterator[Case]:
    """Histories, rules, prices and times that are damaged or absurd."""
    history = (DATA.parent.parent / "sample_data" / "nights.parquet").read_bytes()
    for number in range(count):
        if number % 20 == 0:
            fresh(place)
        chance = random.Random(f"written {seed} {number}")
        kind = chance.choice(["history", "rules", "prices", "time"])
        data = b""
        if kind == "history":
            change = chance.choice([flipped, flipped, flipped, removed, inserted, truncated])
            data = change(history, chance)
            (place / "h.parquet").write_bytes(data)
            reader = chance.choice(READERS)
            words = [reader, "h.parquet", *NEEDED.get(reader, [])]
            if chance.random() < 0.25:
                words = ["record", "rows.jsonl", "--to", "h.parquet", "--at", "r"]
        elif kind == "rules":
            data = rewritten(RULES, chance)
            (place / "x.toml").write_bytes(data)
            words = ["gate", "--rules", "x.toml", *["--check"] * (chance.random() < 0.3)]
        elif kind == "prices":
            data = rewritten(PRICES, chance)
            (place / "x.toml").write_bytes(data)
            spent = ({**row, "tokens_in": 900, "tokens_out": 80} for row in ROWS)
            (place / "spent.jsonl").write_text(jsonl(spent))
            words = ["cost", "spent.jsonl", "--price", "x.toml"]
        else:
            to = chance.choice(["h.parquet", "h/"])
            words = [
                "record",
                "rows.jsonl",
                "--to",
                to,
                "--at",
                "r",
                "--date",
                chance.choice(TIMES),
            ]
        yield Case(
            f"written: {kind}", f"{number}-{shlex.join(words)[:60]}", try_command(words), data
        )


def option_cases(
    count: int, seed: int, place: Path, attempt: Callable[[list[str]], Outcome] = try_command
) -> Iterator[Case]:
    """Absurd command lines.  attempt : runs one, in this process or in another."""
    kind = "command line" if attempt is try_command else "process"
    for number in range(count):
        if number % 20 == 0:
            fresh(place)
        words = command_line(random.Random(f"options {seed} {number}"), "rows.jsonl")
        yield Case(kind, shlex.join(words), attempt(words))
