"""Methods in words: every object that computes has words, and every reference can be resolved."""

from __future__ import annotations

import json
import re

import pytest

from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.inference.intervals import FIELLER, METHODS
from passk_cli.metrics.registry import FAMILIES
from passk_cli.study import methods_text
from passk_cli.study.significance_options import ADJUSTMENT_NAMES, ADJUSTMENTS, TESTS
from tests.conftest import SAMPLES, Passk, Write, mark_long_except

CRUXEVAL, TAU = SAMPLES / "cruxeval.jsonl.gz", SAMPLES / "tau_airline.csv"
COLD = ("--where", "temperature < 0.5")


def test_every_estimator_interval_and_test_has_words_for_a_paper() -> None:
    assert all(method.description for method in METHODS.values())
    assert set(methods_text.descriptions_of_tests()) == {*TESTS, FIELLER}
    assert set(methods_text.ADJUSTMENT_DESCRIPTIONS) == {*ADJUSTMENTS, *ADJUSTMENT_NAMES}
    # An order, a score or a mean is no estimator of somebody's.
    amounts = {name for name, kind in FAMILIES.items() if kind.amount_unit}
    uncited = {name for name, kind in FAMILIES.items() if not kind.citation_keys}
    assert uncited - amounts == {"first@", "best@", "worst@", "mean"}


def test_every_reference_can_be_resolved() -> None:
    references = methods_text.references()
    words = (
        methods_text.descriptions_of_intervals(),
        methods_text.descriptions_of_tests(),
        methods_text.ADJUSTMENT_DESCRIPTIONS,
    )
    cited = {key for table in words for _, keys in table.values() for key in keys.split()}
    cited |= {key for kind in FAMILIES.values() for key in kind.citation_keys.split()}
    cited |= {"rogan1978", "robins1994", "angelopoulos2023"}
    cited |= {"kiefer1956", "brown2024", "miller2024", "schuirmann1987", "davison1997", "passk"}
    assert cited == set(references)
    for key, reference in references.items():
        assert reference.bibtex.count("{") == reference.bibtex.count("}")
        assert re.search(r"\b(doi|eprint|isbn|issn|url|version) = \{", reference.bibtex), key
        assert re.fullmatch(r".* \d{4}", reference.label), key
    assert references["yao2024"].label == "Yao et al. 2024"
    assert references["clopper1934"].label == "Clopper and Pearson 1934"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["estimate", TAU, "-k", "1,4"], ["pass@1, pass@4 and pass^4 are means over 50 tasks",
         "4 attempts per task (Chen et al. 2021; Yao et al. 2024)", "(95 %) are made by guard"]),
        (["estimate", TAU, "--interval", "none"], ["Standard errors take the tasks as a sample"]),
        (["estimate", TAU, "-k", "1", "--population", "these-tasks"], ["these tasks as fixed"]),
        (["compare", CRUXEVAL, *COLD, "-m", "pass@1"], ["paired by task", "for 6 tests",
         "min-P method", "10,000 draws, seed 0", "a guard for few tasks (Student 1908)"]),
        (["compare", CRUXEVAL, *COLD, "-m", "pass@1", "--adjust", "holm", "--margin", "0.1"],
         ["Holm's method (Holm 1979)", "within ±0.1 by two one-sided tests"]),
        (["curve", TAU, "--band", "simultaneous"], ["pass@k (k from 1 to 4)",
         "(95 %, simultaneous over all k (Davison and Hinkley 1997))"]),
        (["extrapolate", SAMPLES / "counts.csv", "--fit", "log-logit"],
         ["at most 1.92 below the maximum (Kiefer and Wolfowitz 1956)", "prior weight 1/2",
          "beta distributions of success rates", "logit(pass@k) in log k (Brown et al. 2024)"]),
        (["estimate", SAMPLES / "evalplus.csv.gz", "--field", "truth=label", "-k", "1"],
         ["a judge's verdicts, corrected by 1,200 labels: labels of attempts by post-strata of the",
          "(Robins et al. 1994)"]),
        (["compare", SAMPLES / "costs.csv", "-m", "cost-per-success"],
         ["cost-per-success is the mean cost of an attempt divided by pass@1, from 8 tasks",
          "Fieller's test of equal ratios of means"]),
    ],
)  # fmt: skip
def test_sentences_are_about_what_was_computed(
    passk: Passk, words: list[object], parts: list[str]
) -> None:
    stated = json.loads(passk(*words, "--methods", "-f", "json").out)["methods"]
    assert [part for part in parts if part not in stated["text"]] == []
    assert 2 <= len(re.findall(r"\.(?: |$)", re.sub(r"et al\.|\d\.\d", "", stated["text"]))) <= 6
    cited = set(re.findall(r"[a-z]+\d{4}(?=,)", stated["bibtex"]))
    assert "@software{passk," in stated["bibtex"]
    assert len(cited) >= 1


def test_methods_appear_below_the_table_in_every_format_for_people(passk: Passk) -> None:
    base = ["estimate", TAU, "-k", "1", "--methods"]
    for form in ("plain", "table", "markdown"):
        out = passk(*base, "-f", form).out
        assert (
            out.index("gpt-4o") < out.index("pass@1 is the mean") < out.index("@article{chen2021")
        )
    latex = passk(*base, "-f", "latex").out
    assert "estimates from 4 attempts per task~\\cite{chen2021}." in latex
    assert "\n% @article{chen2021,\n" in latex
    assert "chen2021" not in passk(*base[:-1]).out


def test_only_commands_with_methods_print_them(passk: Passk) -> None:
    assert passk("tasks", TAU, "--methods").code == 2


# What is tried with a command and a file: two sets of options, and an option that they differ in.
# Each changes an estimate or an interval.
CHANGES = [
    ("estimate", "rows", "-k 1", "-k 2"),
    ("estimate", "rows", "-m pass@2", "-m pass^2"),
    ("estimate", "once", "-k 1", "-k 1 --interval wilson"),
    ("estimate", "rows", "-k 1", "-k 1 --interval percentile"),
    ("estimate", "rows", "-k 1", "-k 1 --level 0.9"),
    ("estimate", "rows", "-k 1", "-k 1 --population these-tasks"),
    ("estimate", "rows", "-k 1", "-k 1 --cluster repo"),
    ("compare", "models", "-k 1", "-k 1 --resamples 2000"),
    ("compare", "models", "-k 1", "-k 1 --seed 7"),
    ("estimate", "graded", "-m mean --bounds 0,1", "-m mean --bounds=-2,3"),
    ("estimate", "graded", "-k 1 --threshold 0.6", "-k 1 --threshold 0.3"),
    ("estimate", "rows", "-k 1", "-k 1 --where attempt<3"),
    ("estimate", "rows", "-k 1", "-k 1 --exclude-task t1"),
    ("estimate", "rows", "-k 1", "-k 1 --only-task t1,t2,t3"),
    ("compare", "models", "-k 1", "-k 1 --model a --model b"),
    ("compare", "models", "-k 1", "-k 1 --exclude-model c"),
    ("estimate", "halves", "-k 1", "-k 1 --alias b=a"),
    ("estimate", "models", "-k 1 --pool attempt", "-k 1 --by attempt"),
    ("estimate", "models", "-k 1 --by attempt", "-k 1 --pool attempt"),
    ("estimate", "missing", "-k 1 --missing fail", "-k 1 --missing drop"),
    ("estimate", "twice", "-k 1 --duplicates first", "-k 1 --duplicates last"),
    ("estimate", "words", "-k 1 --passes yes", "-k 1 --passes yes,maybe"),
    (
        "estimate",
        "words",
        "-k 1 --passes yes --fails no,maybe",
        "-k 1 --fails no --passes yes,maybe",
    ),
    (
        "estimate",
        "labels",
        "-k 1 --missing drop --pool label --field outcome=passed",
        "-k 1 --missing drop --pool passed --field outcome=label",
    ),
    (
        "estimate",
        "labels",
        "-k 1 --missing drop --pool label --field outcome=passed",
        "-k 1 --missing drop --all passed,label",
    ),
    (
        "estimate",
        "labels",
        "-k 1 --field outcome=passed --pool label",
        "-k 1 --field outcome=passed --field truth=label",
    ),
    ("estimate", "rows", "-k 1", "-k 1 --attempts 4 --short-tasks drop"),
    ("estimate", "rows", "-k 1,4 --short-tasks empty", "-k 1,4 --short-tasks drop"),
    ("estimate", "bad", "-k 1 --skip-bad", "-k 1 --skip-bad --exclude-task t2"),
    ("compare", "models", "-k 1", "-k 1 --test t"),
    ("compare", "models", "-k 1", "-k 1 --adjust holm"),
    ("compare", "models", "-k 1,2", "-k 1,2 --family all"),
    ("compare", "models", "-k 1", "-k 1 --margin 0.3"),
    ("compare", "models", "-k 1", "-k 1 --baseline a"),
    ("compare", "models", "-k 1", "-k 1 --change pass@1:pass@2"),
    ("curve", "rows", "", "--max-k 2"),
    ("curve", "graded", "--threshold 0.5", "--threshold 0.5 --band simultaneous"),
    ("extrapolate", "rows", "--to 20", "--to 50"),
    ("extrapolate", "rows", "--to 20", "--to 20 --target 0.9"),
    ("extrapolate", "rows", "--to 20", "--to 20 --fit log-logit"),
]
# Options that change no number of the table, or say in which file or place it is read.
SAME = set(
    """
    --sort --crossings --flips --sensitivity --delta --unpaired --error --ignore --points --rates
    --map --records --path --from --truth --truth-from --outcome
    --missing-cost --price
""".split()
)


def test_every_option_of_a_command_with_methods_is_tried() -> None:
    options = {word.partition("=")[0] for *_, first, second in CHANGES
             for word in f"{first} {second}".split() if word.startswith("-")}  # fmt: skip
    declared = {
        name
        for command in COMMANDS if load_command(command).has_methods_text
        for option in load_command(command).options() for name in option.option.flags.split()
    }  # fmt: skip
    assert options | SAME | {"--metric"} == declared


def data_of(kind: str) -> str:
    """Rows of 24 tasks × 4 attempts (some 3), as an option needs them."""
    lines = ["model,task,attempt,passed,repo,size,label"]
    for model in {"models": "abc", "halves": "ab"}.get(kind, "a"):
        for t in range(40):
            for attempt in range(1 if kind == "once" else 4 - (t == 5)):
                passed = (t * 7 + attempt * (3 + ord(model) % 5)) % 11 < 5 + (model == "b")
                outcome = {"missing": "" if t % 9 == 4 else str(int(passed)),
                           "words": ("no", "yes", "maybe")[passed + (t % 8 == 7) * passed]}.get(
                               kind, str(int(passed)))  # fmt: skip
                label = str(int(passed and t % 6 > 0)) if (t + attempt) % 2 else ""
                row = f"{model},t{t},{attempt},{outcome},r{t // 3},{(t % 10) / 10},{label}"
                if kind == "graded":
                    row = f"{model},t{t},{attempt},{(t + attempt) % 10 / 10},r,0,"
                if kind != "halves" or (model == "a") == (t < 20):
                    lines.append(row)
                if kind == "twice" and t % 5 == 0:
                    lines.append(row.replace(f",{outcome},", f",{1 - int(passed)},", 1))
    if kind == "graded":
        lines[0] = "model,task,attempt,score,repo,other,label"
    if kind == "bad":
        lines.append("a,t9")
    if kind != "labels":
        lines = [line.rpartition(",")[0] for line in lines]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("command", "kind", "first", "second"), mark_long_except(CHANGES, *CHANGES[::3])
)
def test_an_option_that_changes_a_number_is_named(
    command: str, kind: str, first: str, second: str, passk: Passk, write: Write
) -> None:
    """It changes the methods or the signature, so that nobody takes one number for the other."""
    path = write(f"{kind}.csv", data_of(kind))
    numbers, stated = [], []
    for words in (first, second):
        result = passk(command, path, *words.split(), "--methods", "-f", "json")
        assert result.code == 0, result.err
        document = json.loads(result.out)
        numbers.append(document["rows"])
        stated.append((document["methods"]["text"], document["signature"]))
    assert numbers[0] != numbers[1], "the option changes nothing here"
    assert stated[0] != stated[1]
