"""The options of passk temperature, and which of them go together."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from passk_cli.cli.options import Choice, not_empty, option
from passk_cli.errors import ParameterError

if TYPE_CHECKING:
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts


@dataclass(frozen=True)
class PassAtK(Choice):
    """Which metrics; -k means pass@k alone."""

    k: Annotated[
        list[str],
        option(
            "-k",
            metavar="1,10,100",
            help="pass@k for these k; pass^k with -m. Default: those of 1, 10, 100 that every task"
            " of some model supports; of the toy model 1, 2, 4, … 16384.",
        ),
    ] = field(default_factory=list)

    @property
    def ks(self) -> tuple[int, ...]:
        """The k's asked for; empty for the default."""
        from passk_cli.metrics.registry import parse_ks

        return parse_ks(",".join(not_empty("-k", self.k))) if self.k else ()

    def of(self, counts: Counts) -> tuple[Metric, ...]:
        """The metrics for this data: pass@k, and what is named."""
        from passk_cli.metrics.registry import parse_list

        named = parse_list(",".join(self.metrics))
        return tuple(m for m in super().of(counts) if m.family == "pass@" or m in named)


@dataclass(frozen=True)
class Heat:
    """The column of temperatures."""

    temperature: Annotated[
        str | None,
        option(
            "--temperature",
            metavar="COLUMN",
            help="The column of temperatures. Default: temperature or temp, else from the names of"
            " files or labels, as T0.2 or gpt-4@T0.2.",
        ),
    ] = None


@dataclass(frozen=True)
class Toy:
    """The toy model, in place of data."""

    toy: Annotated[
        str | None,
        option(
            "--toy",
            metavar="gaussian|exponential|power-law",
            help="No data: T*(k) of the toy model for tasks of this family; several by commas.",
        ),
    ] = None
    spread: Annotated[
        str | None,
        option(
            "--spread",
            metavar="S",
            help="Toy: standard deviations of the tasks, as 4,16. Default: 16.",
        ),
    ] = None
    gamma: Annotated[
        float | None,
        option("--gamma", metavar="G", help="Toy: exponent of the power law. Default: 2."),
    ] = None
    fit: Annotated[
        bool,
        option("--fit", help="Toy: the regression of T* over the article's grid of k and spread."),
    ] = False


def changed(group: Any) -> list[str]:
    """The options of a group that do not have their default, as they are written."""
    hints = get_type_hints(type(group), include_extras=True)
    found = []
    for one in fields(group):
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if getattr(group, one.name) != default:
            # typer keeps an option's first name in `default`; an argument has none but its metavar.
            shown = hints[one.name].__metadata__[0]
            found.append(shown.default if isinstance(shown.default, str) else shown.metavar)
    return found


def check_toy(toy: Toy, choice: PassAtK, *others: Any) -> None:
    """ParameterError for options of data beside --toy, or options of the toy without it."""
    given = changed(toy)
    if toy.toy is None:
        if given:
            raise ParameterError(f"{given[0]} is for the toy model; add --toy gaussian")
        return
    needless = [name for group in others for name in changed(group)]
    needless += [name for name in changed(choice) if name != "-k"]
    if needless:
        raise ParameterError(
            f"--toy reads no data, draws nothing and has pass@k only; leave out {needless[0]}"
        )
    if toy.gamma is not None and "power-law" not in toy.toy:
        raise ParameterError("--gamma is for --toy power-law; leave it out")
    if toy.fit and (toy.spread is not None or choice.k):
        raise ParameterError(
            "--fit takes the k's and spreads of the article's grid; leave out -k and --spread"
        )
