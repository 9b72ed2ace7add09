"""Methods in words: every object that computes has words, and every reference can be resolved."""

from __future__ import annotations

import json
import re

import pytest

from passk_cli.inference.intervals import FIELLER, METHODS
from passk_cli.metrics.registry import FAMILIES
from passk_cli.study import methods
from passk_cli.study.rules import ADJUSTED, ADJUSTMENTS, TESTS
from tests.conftest import SAMPLES, Passk

CRUXEVAL, TAU = SAMPLES / "cruxeval.jsonl.gz", SAMPLES / "tau_airline.csv"
COLD = ("--where", "temperature < 0.5")


def test_everything_that_computes_has_words() -> None:
    assert all(method.words for method in METHODS.values())
    assert set(methods.tests()) == {*TESTS, FIELLER}
    assert set(methods.ADJUSTMENTS) == {*ADJUSTMENTS, *ADJUSTED}
    # An order, a score or a mean is no estimator of somebody's.
    amounts = {name for name, kind in FAMILIES.items() if kind.quantity}
    others = {name for name, kind in FAMILIES.items() if not kind.cites}
    assert others - amounts == {"first@", "best@", "worst@", "mean"}


def test_every_reference_can_be_resolved() -> None:
    references = methods.references()
    words = (methods.intervals(), methods.tests(), methods.ADJUSTMENTS)
    used = {key for table in words for _, keys in table.values() for key in keys.split()}
    used |= {key for kind in FAMILIES.values() for key in kind.cites.split()}
    used |= {"kiefer1956", "brown2024", "miller2024", "schuirmann1987", "davison1997", "passk"}
    assert used == set(references)
    for key, reference in references.items():
        assert reference.bibtex.count("{") == reference.bibtex.count("}")
        assert re.search(r"\b(doi|eprint|isbn|issn|url|version) = \{", reference.bibtex), key
        assert re.fullmatch(r".* \d{4}", reference.label), key
    assert references["yao2024"].label == "Yao et al. 2024"
    assert references["clopper1934"].label == "Clopper and Pearson 1934"


@pytest.mark.parametrize(
    ("words", "said"),
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
         ["at most 1.92 below the highest (Kiefer and Wolfowitz 1956)", "prior weight 1/2",
          "beta distributions of success rates", "logit(pass@k) in log k (Brown et al. 2024)"]),
        (["compare", SAMPLES / "costs.csv", "-m", "cost-per-success"],
         ["cost-per-success is the mean cost of an attempt divided by pass@1, from 8 tasks",
          "Fieller's test of equal ratios of means"]),
    ],
)  # fmt: skip
def test_sentences_are_about_what_was_computed(
    passk: Passk, words: list[object], said: list[str]
) -> None:
    stated = json.loads(passk(*words, "--methods", "-f", "json").out)["methods"]
    assert [part for part in said if part not in stated["text"]] == []
    assert 2 <= len(re.findall(r"\.(?: |$)", re.sub(r"et al\.|\d\.\d", "", stated["text"]))) <= 4
    cited = set(re.findall(r"[a-z]+\d{4}(?=,)", stated["bibtex"]))
    assert "@software{passk," in stated["bibtex"]
    assert len(cited) >= 1


def test_methods_stand_below_the_table_in_every_format_for_people(passk: Passk) -> None:
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


def test_only_commands_that_know_their_methods_say_them(passk: Passk) -> None:
    assert passk("tasks", TAU, "--methods").code == 2
