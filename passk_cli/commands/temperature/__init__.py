"""passk temperature: which temperature is best for which k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.option import Option, changed, split
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, parse_k
from passk_cli.study.rules import ALL, Rules

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


def parse_families(value: Any) -> tuple[str, ...]:
    """Families of tasks from "gaussian,power-law"; ParameterError says which there are."""
    from passk_cli.laws.toy_model import FAMILIES

    families = split(value)
    for family in families:
        if family not in FAMILIES:
            raise ParameterError(
                f"--toy {','.join(families)}: no family {family!r}; there are {', '.join(FAMILIES)}"
            )
    return families


def parse_spreads(value: Any) -> tuple[float, ...]:
    """Spreads from several numbers or texts as "4,16"; ParameterError for anything else."""
    parts = split([str(spread) for spread in value])
    try:
        return tuple(dict.fromkeys(map(float, parts)))
    except ValueError:
        raise ParameterError(f"--spread {','.join(parts)}: write numbers, as 4,16") from None


@dataclass(frozen=True)
class Temperature(Question):
    """The best temperature for each k.

    A low temperature is often best for one attempt, a higher one for many. Tests, for each model
    and k, the best temperature against the others, and models against each other. The toy model
    needs no data.

    Example: passk temperature sample_data/cruxeval.jsonl.gz -k 1,10

    Example: passk temperature --toy gaussian --spread 16 -k 2,8,64
    """

    finds_temperatures: ClassVar[bool] = True
    unbounded: ClassVar[str] = (
        "the best temperature need not be among those with all missing outcomes failing or"
        " all passing"
    )

    # fmt: off
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,10,100", "pass@k at these k (pass^k: use -m).", parse=parse_k,
        detail="Default: those of 1, 10, 100 that every task of some model supports; of the toy"
        " model 1, 2, 4, … 16384.",
    )] = ()
    temperature: Annotated[str | None, Option(
        "--temperature", "COLUMN", "Column of temperatures.",
        detail="Default: temperature or temp, else from the names of files or labels, as T0.2 or"
        " gpt-4@T0.2.",
    )] = None
    toy: Annotated[tuple[str, ...], Option(
        "--toy", "NAMES", "Toy model: gaussian, exponential, power-law.", parse=parse_families,
        detail="No data: T*(k) for tasks of these families; several by commas.",
    )] = ()
    spread: Annotated[tuple[float, ...], Option(
        "--spread", "S", "Toy: standard deviation of the tasks.", parse=parse_spreads,
        detail="Several by commas, as 4,16. Default: 16.",
    )] = ()
    gamma: Annotated[float | None, Option(
        "--gamma", "G", "Toy: exponent of the power law.", detail="Default: 2.",
    )] = None
    fit: Annotated[bool, Option(
        "--fit", help="Toy: regression of T* on k and spread.",
        detail="Over the grid of the article.",
    )] = False
    # fmt: on

    def alone(self, options: SharedOptions) -> Report | None:
        """The toy model, which needs no data; ParameterError for options that contradict it."""
        from passk_cli.commands.temperature import toy

        given = changed(self)
        needless = ["[FILE...]"] * options.data + ["--temperature"] * ("--temperature" in given)
        for group in (options.request, options.rules, options.confidence, options.metrics):
            needless += changed(group)
        own = [name for name in given if name not in ("-k", "--temperature")]
        refusal = ""
        if not self.toy:
            refusal = f"{own[0]} is for the toy model; add --toy gaussian" if own else ""
        elif needless:
            refusal = (
                f"--toy reads no data, needs no resamples, has pass@k only; leave out {needless[0]}"
            )
        elif self.gamma is not None and "power-law" not in self.toy:
            refusal = "--gamma is for --toy power-law; leave it out"
        elif self.fit and (self.spread or self.k):
            refusal = "--fit uses the k and spreads of the article; leave out -k and --spread"
        if refusal:
            raise ParameterError(refusal, name="contradicting-options")
        if not self.toy and not options.data:
            raise ParameterError(
                "no FILE; give result files, or --toy gaussian for the toy model", name="no-files"
            )
        if not self.toy:
            return None
        gamma = toy.DEFAULT_GAMMA if self.gamma is None else self.gamma
        if self.fit:
            return toy.fit_report(self.toy, gamma)
        spreads, ks = self.spread or toy.DEFAULT_SPREADS, self.k or toy.DEFAULT_KS
        return toy.toy_report(self.toy, spreads, gamma, ks)

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """pass@k, and what is named."""
        metrics = options.metrics.of(counts)
        return tuple(m for m in metrics if m.family == "pass@" or m in options.metrics.metrics)

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data by temperature; all pairs are one family of tests."""
        from passk_cli.study.study import Study
        from passk_cli.study.temperature_names import TEMPERATURE, by_temperature

        confidence = options.confidence.required()
        options = replace(options, metrics=replace(options.metrics, k=self.k))
        counts, column = self._read(self.request(options), read, options.once)
        counts = by_temperature(counts, column)
        return Study(
            counts,
            self.metrics(options, counts),
            confidence,
            replace(options.rules, family=ALL),
            options.metrics.short_tasks,
            decided={} if column == TEMPERATURE else {"temperature": column or "names"},
        )

    def _read(self, request: Request, read: Read, once: bool) -> tuple[Counts, str | None]:
        """The counts by the column of temperatures, and its name; None where there is none."""
        from passk_cli.study.temperature_names import COLUMNS

        columns = COLUMNS if self.temperature is None else (self.temperature,)
        others = tuple(name for name in request.by if name not in columns)
        for name in columns:
            try:
                return read(replace(request, by=(*others, name))), name
            except DataError as error:
                # What comes through a pipe cannot be read a second time.
                last = self.temperature is not None or once
                if last or error.problem != f"no column {name!r}":
                    raise
        return read(replace(request, by=others)), None

    def report(self, study: Study) -> Report:
        """Estimates by temperature, the best ones, which model is better where, the power law."""
        from passk_cli.commands.temperature.view import temperature_view

        return temperature_view(study)


COMMAND = Command(
    Temperature,
    (Request, Metrics, Rules, Confidence),
    without=("test", "family", "margin", "unpaired"),
    files="optional",
    charts=True,
    view="passk_cli.commands.temperature.view",
)
