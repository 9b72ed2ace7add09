"""Which tasks a gain comes from, in words."""

from __future__ import annotations

from passk_cli.study.fact import Fact

# Shares below this are rounding.
_NONE = 1e-12


def origin(never: float, always: float, attempts: str, gain: Fact, even: float | None) -> str:
    """Which tasks the gain comes from, and how it compares with that of equally hard tasks.

    Only tasks solved sometimes can gain: the others have pass@k = pass@1.

    never, always : shares of tasks.  attempts : per task, "" for exact rates.
    even : what equally hard tasks would gain.
    """
    sometimes = 1.0 - never - always
    words = _which_tasks(never, always, sometimes, f" in {attempts} attempts" if attempts else "")
    if sometimes < _NONE or even is None or even <= 0:
        return words
    share = 100 * max((gain.estimate.value or 0.0) / even, 0.0)
    if share >= 99.5:
        # Beyond 100 % it is chance: no tasks gain more over one attempt than equally hard ones.
        return f"{words}; gain to k = {gain.k}: as much as equally hard tasks"
    return f"{words}; gain to k = {gain.k}: {share:.0f} % of that of equally hard tasks"


def _which_tasks(never: float, always: float, sometimes: float, within: str) -> str:
    """How many tasks are solved always, never and sometimes; without those that are none."""
    some = percent(sometimes)
    shares = {
        word: percent(share) for word, share in (("always", always), ("never", never)) if share
    }
    if not shares:
        return f"all tasks pass sometimes{within}"
    if sometimes > 0.5:
        others = ", ".join(f"{share} {word}" for word, share in shares.items())
        return f"{some} of tasks pass sometimes{within} ({others})"
    others = " or ".join(f"{word} ({share})" for word, share in shares.items())
    if sometimes < _NONE:
        return f"all tasks pass {others}{within}: none can gain"
    return f"only the {some} of tasks that pass sometimes{within} gain; others pass {others}"


def percent(share: float) -> str:
    """A share in percent; what is neither none nor all does not read as such.

    >>> percent(0.2344), percent(0.0001), percent(0.9999), percent(1.0)
    ('23.4 %', '<0.1 %', '>99.9 %', '100 %')
    """
    if _NONE < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1 - _NONE:
        return ">99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
