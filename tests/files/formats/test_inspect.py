"""Inspect AI's logs: present and earlier versions, complete, stopped, crashed and damaged."""

from __future__ import annotations

import json
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import zstandard

from passk_cli import DataError, read
from tests.conftest import Passk, Write
from tests.files.formats.cells import DATA, cells, pass_at

LOGS, STOPPED = DATA / "inspect" / "logs", DATA / "inspect" / "stopped"
MODELS = {"LTV": "alpha", "KfG": "alpha", "7jb": "beta", "iEQ": "beta"}
# The numbers in the headers of the logs (accuracy, mean of safe) and in the README of the samples.
EXPECTED = {
    "sums_LTV": (Fraction(11, 32), Fraction(5, 16), Fraction(5, 12), Fraction(31, 32)),
    "words_KfG": (Fraction(1, 6), Fraction(1, 6), Fraction(5, 18), None),
    "sums_7jb": (Fraction(7, 32), Fraction(7, 32), Fraction(1, 3), Fraction(29, 32)),
    "words_iEQ": (Fraction(0), Fraction(0), Fraction(0), None),
}


@pytest.mark.parametrize("part", EXPECTED)
def test_the_counts_of_each_log_agree_with_its_header(part: str) -> None:
    (log,) = LOGS.glob(f"*{part}*")
    model = f"mockllm/{MODELS[part.split('_')[1]]}"
    accuracy, failed, pass_2, safe = EXPECTED[part]
    dropped = cells(log, outcome="verify", missing="drop")
    assert pass_at(1, dropped, model) == accuracy
    assert pass_at(1, cells(log, outcome="verify", missing="fail"), model) == failed
    assert pass_at(2, {k: v for k, v in dropped.items() if v[0] > 1}, model) == pass_2
    if safe is not None:
        assert pass_at(1, cells(log, outcome="graded.safe", missing="drop"), model) == safe


def test_a_folder_of_logs_keeps_suites_apart() -> None:
    counts = cells(LOGS, outcome="verify", missing="drop")
    assert pass_at(1, counts, "mockllm/alpha") == Fraction(13, 44)
    assert pass_at(1, counts, "mockllm/beta") == Fraction(7, 44)
    assert {("mockllm/alpha", "sums/1"), ("mockllm/alpha", "words/1")} <= counts.keys()
    by = cells(LOGS, outcome="verify", missing="drop", by=["suite", "temperature"])
    assert {key[1:3] for key in by} == {("sums", "0.7"), ("words", "0.7")}


@pytest.mark.long
def test_outcomes_have_to_be_chosen_and_numbers_need_a_threshold() -> None:
    with pytest.raises(
        DataError, match=r"outcomes: verify, graded\.quality, graded\.safe, partial"
    ):
        read(LOGS)
    for outcome, value in (("partial", "0.5"), ("graded.quality", r"0\.\d+")):
        with pytest.raises(DataError, match=rf'epoch \d+: "outcome" is {value}; .*threshold=X'):
            read(LOGS, outcome=outcome, missing="drop")
    counts = read(LOGS, outcome="partial", missing="drop", threshold=0.5, attempts="score")
    assert counts.read_facts.files_without_outcome
    strict = read(LOGS, outcome="partial", missing="drop", threshold=1)
    assert strict.c.sum() < counts.c.sum()
    assert set(counts.attempts["score"].value) == {0.0, 0.5, 1.0}


def test_reasons_of_missing_outcomes_are_counted() -> None:
    facts = read(LOGS, outcome="verify", missing="drop").read_facts
    assert facts.missing_reasons_by_model == {
        "mockllm/alpha": {"error": 4, "unscored": 5},
        "mockllm/beta": {"error": 2},
    }


def test_describe_shows_the_rule_the_outcomes_and_the_reasons(passk: Passk) -> None:
    out = passk("describe", LOGS, "--outcome", "verify").out
    for line in (
        r"format +inspect \(a score of C or 1 passes; P and other numbers need --threshold\)",
        r"several outcomes +verify, graded\.quality, graded\.safe, partial",
        r"no outcome +mockllm/alpha 9 of 44 \(5 unscored, 4 errors\)",
        r"no outcome +mockllm/beta 2 of 44 \(2 errors\)",
    ):
        assert re.search(f"^{line}$", out, re.MULTILINE), line


def test_stopped_and_crashed_logs_give_a_warning() -> None:
    facts = read(STOPPED, outcome="verify", missing="drop").read_facts
    messages = [message.text.split(": ", 1)[1] for message in facts.messages]
    assert messages == [
        "the run did not finish",
        "the run did not finish: its status is error",
        "the run lists 32 attempts, but the file contains 4",
    ]
    (crashed,) = STOPPED.glob("*crashed*")
    (log,) = LOGS.glob("*words_KfG*")
    counts = cells(crashed, outcome="verify", missing="drop")
    assert {task for _, task in counts} == {"words/1", "words/2", "words/3"}
    assert pass_at(1, counts, "mockllm/alpha") == pass_at(
        1, cells(log, outcome="verify", missing="drop"), "mockllm/alpha"
    )


def test_older_logs_are_read() -> None:
    streaming = DATA / "inspect" / "log_streaming.eval"
    (model, _), *_ = cells(streaming)
    assert pass_at(1, cells(streaming), model) == Fraction(3, 4)
    assert cells(DATA / "inspect" / "log_formats.json") == {
        ("ollama/llama3.1", "popularity/1"): (1, 0)
    }
    local = DATA / "inspect" / "data_intercode_ctf_local_path.json"
    assert list(cells(local).values()) == [(1, 0)]
    (message,) = read(local).read_facts.messages
    assert (message.name, message.fields["listed"]) == ("incomplete-run", 79)


def test_texts_of_attempts_can_be_read() -> None:
    log = DATA / "inspect" / "log_streaming.eval"
    attempts = read(log, attempts=["answer", "solution"]).attempts
    assert {role: texts.valueless for role, texts in attempts.items()} == {
        "answer": 0,
        "solution": 0,
    }
    document = read(DATA / "inspect" / "log_formats.json", attempts=["answer", "solution"])
    assert document.attempts["solution"].valueless == 0


def test_logs_without_results_are_refused_or_skipped_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"popularity_unscored\.eval: no sample has a score; score the log"
    ):
        read(DATA / "inspect" / "popularity_unscored.eval")
    for log in (*LOGS.glob("*words_KfG*"), DATA / "inspect" / "popularity_unscored.eval"):
        shutil.copy(log, tmp_path)
    facts = read(tmp_path, outcome="verify", missing="drop").read_facts
    assert [name.rsplit("/", 1)[-1] for name in facts.non_result_files] == [
        "popularity_unscored.eval"
    ]


# --- logs made here, for cases that the samples lack ---


def sample(number: object, epoch: int, value: object, **more: object) -> dict[str, object]:
    return {"id": number, "epoch": epoch, "scores": {"match": {"value": value}}, **more}


HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "task_id": "r"}}


def archive(members: Mapping[str, bytes], method: int = 8) -> bytes:
    """A zip with members packed by a method; zstd (93) uses several frames."""
    data, central = b"", b""
    for name, content in members.items():
        packed = _packed(content, method)
        fields = (20, 0, method, 0, 0, zlib.crc32(content), len(packed), len(content), len(name), 0)
        offset = len(data)
        data += struct.pack("<4s5H3I2H", b"PK\3\4", *fields) + name.encode() + packed
        central += struct.pack("<4sH5H3I5H2I", b"PK\1\2", 20, *fields[:9], 0, 0, 0, 0, 0, offset)
        central += name.encode()
    count = len(members)
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(central), len(data), 0)
    return data + central + tail


def _packed(content: bytes, method: int) -> bytes:
    if method == 93:
        half = len(content) // 2
        return zstandard.compress(content[:half]) + zstandard.compress(content[half:])
    deflate = zlib.compressobj(wbits=-15)
    return content if method == 0 else deflate.compress(content) + deflate.flush()


def log_of(*samples: object, header: Mapping[str, object] = HEADER) -> dict[str, bytes]:
    return {
        "header.json": json.dumps(header).encode(),
        "summaries.json": json.dumps(samples).encode(),
    }


@pytest.mark.parametrize("method", [0, 8, 93])
def test_all_packings_give_the_same_counts(write: Write, method: int) -> None:
    members = log_of(*(sample(i, e, "C" if i == e else "I") for i in (1, 2) for e in (1, 2)))
    path = write("a.eval", archive(members, method))
    assert cells(path) == {("m", "t/1"): (2, 1), ("m", "t/2"): (2, 1)}


def test_a_log_with_only_samples_is_read(write: Write) -> None:
    """The log has no summaries, so each sample is opened."""
    members = {"header.json": json.dumps(HEADER).encode()} | {
        f"samples/{number}_epoch_1.json": json.dumps(sample(number, 1, value)).encode()
        for number, value in ((1, "C"), (2, "I"))
    }
    path = write("a.eval", archive(members))
    counts = read(path)
    assert (counts.n.tolist(), counts.c.tolist()) == ([1, 1], [1, 0])


def test_the_last_record_of_a_sample_counts(write: Write) -> None:
    members = {"_journal/start.json": json.dumps(HEADER).encode()}
    for number, value in ((2, "C"), (10, "I"), (1, "C")):
        records = [sample(1, 1, value), sample("2", number, "C")]
        members[f"_journal/summaries/{number}.json"] = json.dumps(records).encode()
    for method in (8, 93):
        path = write(f"{method}.eval", archive(members, method))
        # The tenth part of the journal comes after the second; each has an epoch of "2".
        assert cells(path) == {("m", "t/1"): (1, 0), ("m", "t/2"): (3, 3)}


def test_values_are_converted_like_in_inspect(write: Write) -> None:
    values = ["C", "I", "N", "yes", "False", "1.0", 0, True, float("nan"), None]
    path = write(
        "a.eval", archive(log_of(*(sample(i, 1, value) for i, value in enumerate(values))))
    )
    counts = cells(path, missing="drop")
    passed = {int(task.removeprefix("t/")) for (_, task), (_, c) in counts.items() if c}
    assert (passed, len(counts)) == ({0, 3, 5, 7}, 8)
    for value in ("GRADE", [1, 0]):
        path.write_bytes(archive(log_of(sample(1, 1, "C"), sample(2, 1, value))))
        with pytest.raises(DataError, match=r'sample 2, epoch 1: "outcome" is "(GRADE|\[1, 0\])"'):
            read(path)


def test_a_temperature_of_zero_is_a_temperature(write: Write) -> None:
    run = {**HEADER["eval"], "model_generate_config": {"temperature": 0.0}}  # type: ignore[dict-item]
    path = write("a.eval", archive(log_of(sample(1, 1, "C"), header={**HEADER, "eval": run})))
    assert list(cells(path, by="temperature")) == [("m", "0.0", "t/1")]


def test_a_retried_run_repeats_and_another_run_goes_on(tmp_path: Path) -> None:
    for name, run in (("a", "r"), ("b", "s")):
        header = {**HEADER, "eval": {**HEADER["eval"], "task_id": run}}  # type: ignore[dict-item]
        (tmp_path / f"{name}.eval").write_bytes(archive(log_of(sample(1, 1, "C"), header=header)))
    assert cells(tmp_path) == {("m", "t/1"): (2, 2)}
    (tmp_path / "c.eval").write_bytes((tmp_path / "b.eval").read_bytes())
    with pytest.raises(DataError, match="is duplicated"):
        read(tmp_path)


Damage = Callable[[bytes], bytes]


def with_wrong_sizes(data: bytes) -> bytes:
    """The same zip with the stated sizes of its members cut to ten bytes."""
    for start in (data.find(b"PK\1\2"), data.rfind(b"PK\1\2")):
        data = data[: start + 24] + struct.pack("<I", 10) + data[start + 28 :]
    return data


DAMAGES: tuple[tuple[str, Damage, str], ...] = (
    ("cut off", lambda data: data[:-30],
     r"not a complete zip archive \(.*; check whether the file is cut off"),
    ("cut in half", lambda data: data[: len(data) // 2], "not a complete zip archive"),
    ("a flipped byte", lambda data: data[:60] + bytes([data[60] ^ 255]) + data[61:],
     r"header\.json: the member cannot be read \(.*\); the file may be damaged: copy it again"),
    ("a lie about the size", with_wrong_sizes, r"cannot be read \(.*\); the file may be damaged"),
)  # fmt: skip


@pytest.mark.parametrize("method", [8, 93])
@pytest.mark.parametrize(
    ("damage", "message"), [d[1:] for d in DAMAGES], ids=[d[0] for d in DAMAGES]
)
def test_a_damaged_log_is_one_message(
    tmp_path: Path, write: Write, damage: Damage, message: str, method: int
) -> None:
    path = write("a.eval", damage(archive(log_of(*(sample(i, 1, "C") for i in range(50))), method)))
    with pytest.raises(DataError, match=message):
        read(path)
    with pytest.raises(DataError, match=message):
        read(tmp_path)


@pytest.mark.parametrize("method", [8, 93])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(write: Write, method: int) -> None:
    bomb = b"[" + b" " * (1 << 26) + b"]"
    path = write("a.eval", archive({**log_of(), "summaries.json": bomb}, method))
    with pytest.raises(
        DataError, match=r"summaries\.json: [\d,]+ packed bytes unpack to 67,108,866 bytes;"
    ):
        read(path)


def test_names_of_members_are_never_used_as_paths(tmp_path: Path) -> None:
    text = json.dumps({"output": {"choices": [{"message": {"content": "x"}}]}}).encode()
    members = {"../../escaped": b"x", "/absolute": b"x", **log_of(sample("../../x", 1, "C")),
               "samples/../../x_epoch_1.json": text}  # fmt: skip
    path = tmp_path / "logs" / "a.eval"
    path.parent.mkdir()
    path.write_bytes(archive(members))
    counts = read(path, attempts="solution")
    assert list(counts.tasks) == ["t/../../x"]
    assert [p.name for p in tmp_path.rglob("*")] == ["logs", "a.eval"]


def test_a_zip_without_a_log_is_refused(write: Write) -> None:
    path = write("a.eval", archive({"a.txt": b"x"}))
    with pytest.raises(DataError, match="this is an archive, which passk does not unpack"):
        read(path)


def test_a_password_and_an_unknown_method_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    data = bytearray(archive(log_of(sample(1, 1, "C"))))
    for start in (data.find(b"PK\1\2"), data.rfind(b"PK\1\2")):
        data[start + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="it needs a password"):
        read(path)
    path.write_bytes(archive(log_of(sample(1, 1, "C")), 14))
    with pytest.raises(DataError, match="packed by method 14"):
        read(path)


def test_a_log_of_version_1_has_one_score_per_sample(passk: Passk, write: Write) -> None:
    log = {
        "version": 1, "status": "success", "eval": {"task": "t", "model": "m"},
        "results": {"scorer": {"name": "graded_deception"}},
        "samples": [{"id": i, "epoch": 1, "score": {"value": int(i < 1)}} for i in range(4)],
    }  # fmt: skip
    path = write("log.json", json.dumps(log))
    result = passk("estimate", path)
    assert "pass@1 0.250" in result.out
    assert "warning[unclear-score]" in result.err
    turned = passk("estimate", path, "--passes", "false", "--fails", "true")
    assert "pass@1 0.750" in turned.out
    log["results"]["scorer"]["name"] = "match"
    path.write_text(json.dumps(log))
    assert "unclear-score" not in passk("estimate", path).err


def test_the_summaries_are_read_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from passk_cli.files.sources.archive import ZipArchive

    path = write("a.eval", archive(log_of(sample(1, 1, "C"))))
    names: list[str] = []
    original_read: Any = ZipArchive.read
    monkeypatch.setattr(
        ZipArchive, "read", lambda self, name: names.append(name) or original_read(self, name)
    )
    read(path)
    assert names == ["header.json", "summaries.json"]


def test_logs_with_different_scorers_need_a_choice(passk: Passk, tmp_path: Path) -> None:
    """--outcome must not read only the logs with that scorer. A log with several scorers needs a
    choice."""
    document = json.loads((DATA / "inspect" / "data_intercode_ctf_local_path.json").read_text())
    expected: dict[str, Fraction] = {}
    for model, scorer in (("a", "match"), ("b", "includes")):
        log = json.loads(json.dumps(document).replace(next(iter(_scorers(document))), scorer))
        log["eval"]["model"] = model
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
        expected[model] = pass_at(1, cells(tmp_path / f"{model}.json"), model)
    result = passk("estimate", tmp_path)
    assert (result.code, "--outcome only" in result.err) == (3, True)
    counts = cells(tmp_path, outcome="only")
    assert {model: pass_at(1, counts, model) for model in "ab"} == expected
    with pytest.raises(DataError, match=r"outcomes: verify, .*outcome=.verify"):
        read(LOGS, outcome="only")


@pytest.mark.parametrize(
    "logs",
    [
        [("a", "t", ["match"]), ("b", "t", ["includes"])],
        [("a", "t", ["match"]), ("a", "u", ["includes"])],
        [("a", "t", ["match"]), ("b", "t", ["includes", "match"])],
        [("a", "t", ["match"]), ("b", "u", ["includes", "match"]), ("b", "t", ["includes"])],
    ],
)
def test_the_first_remedy_for_several_scorers_keeps_the_most_attempts(
    passk: Passk, tmp_path: Path, logs: list[tuple[str, str, list[str]]]
) -> None:
    """--outcome only comes first only if every log has one scorer, because then it pools no
    benchmarks."""
    for number, (model, task, scorers) in enumerate(logs):
        header = json.loads(json.dumps(HEADER))
        header["eval"] |= {"model": model, "task": task}
        samples = [
            {**sample(i, e, "C"), "scores": {name: {"value": "CI"[i % 2]} for name in scorers}}
            for i in range(4) for e in (1, 2)
        ]  # fmt: skip
        (tmp_path / f"{number}.eval").write_bytes(archive(log_of(*samples, header=header)))
    refused = passk("estimate", tmp_path)
    assert refused.code == 3
    first = refused.err.splitlines()[1].partition("  #")[0].split()
    assert first[0] == "passk"
    result = passk(*first[1:], "-k", "1", "-v", "-f", "json")
    document = json.loads(result.out)
    message_names = {message["name"] for message in document["messages"]}
    scorer_lists = [scorers for *_, scorers in logs]
    single_scorers = all(len(scorers) == 1 for scorers in scorer_lists)
    assert ("only" in first) == single_scorers
    assert "uneven-attempts" not in message_names
    assert not single_scorers or "pooled-benchmarks" not in message_names
    lost = not single_scorers and not set.intersection(*map(set, scorer_lists))
    assert ("files-without-outcome" in message_names) == lost


def _scorers(log: dict[str, Any]) -> dict[str, None]:
    return {name: None for sample in log["samples"] for name in sample["scores"]}
