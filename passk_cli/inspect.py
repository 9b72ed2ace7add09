"""Ends an evaluation of Inspect AI as soon as its rules have passed or failed.

    from passk_cli.inspect import stop

    @task
    def mine() -> Task:
        return Task(dataset=…, solver=…, scorer=…, early_stopping=stop("pass@1 >= 0.8"))

Run the evaluation with `--sample-shuffle`, because each interim look uses the first samples in the
order of the run, and this order must be random.  `passk help watch` explains interim looks.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from passk_cli.errors import ParameterError
from passk_cli.files.formats.inspect import value_to_float

if TYPE_CHECKING:
    from inspect_ai.dataset import Sample
    from inspect_ai.hooks import SampleEnd
    from inspect_ai.log import EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop

_RULE_PATTERN = re.compile(
    r"(?P<metric>\S+) *(?P<drop>drop)? *(?P<sign>>=|≥|<=|≤) *(?P<number>[\d.]+%?)"
)
# `_stopper_by_evaluation_id` maps the id of a running Inspect evaluation to the object that may
# stop the evaluation.
_stopper_by_evaluation_id: WeakValueDictionary[str, EarlyStopper] = WeakValueDictionary()


def stop(rule: str = "", *, scorer: str | None = None, **options: Any) -> EarlyStopper:
    """The argument of `Task(early_stopping=…)`, which makes Inspect skip the remaining samples as
    soon as the rules have passed or failed.

    rule : for example "pass@1 >= 0.8", or "pass@1 drop <= 0.02" if you set a baseline.
    scorer : the scorer that gives the outcomes, if the evaluation has several scorers.
    options : options of `passk_cli.watch`, for example baseline, rules, planned, every or
        threshold. By default, `planned` is the number of samples.

    A sample that ends with an error has no score.  A sample without a score delays interim looks,
    unless you set missing="fail" or missing="drop".  With log_samples=False, Inspect does not call
    early stopping before a sample, so no sample is skipped.

    Errors: ParameterError for a rule that has neither the form "METRIC >= NUMBER" nor the form
        "METRIC drop <= NUMBER".

    >>> stop("pass@1 >= 0.8").options
    {'minimum': {'pass@1': '0.8'}}
    """
    if rule:
        match = _RULE_PATTERN.fullmatch(rule.strip())
        drop = match is not None and match["drop"] is not None
        if match is None or (match["sign"] in (">=", "≥")) == drop:
            raise ParameterError(f'{rule!r}: write "pass@1 >= 0.8", or "pass@1 drop <= 0.02"')
        name = "max_drop" if drop else "minimum"
        options[name] = {**options.get(name, {}), match["metric"]: match["number"]}
    return EarlyStopper(options, scorer)


class EarlyStopper:
    """Implements the early stopping protocol of Inspect, for one evaluation at a time.

    reason : why Inspect skips the remaining samples, or "" as long as no sample is skipped.
    """

    def __init__(self, options: Mapping[str, Any], scorer: str | None = None) -> None:
        self.options, self.scorer = options, scorer
        self.reason, self.answer, self.looked, self.number = "", "", 0, ""

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Start an evaluation of the given samples, which are in the order of the run."""
        from passk_cli.commands.watch.interim_looks import WatchPlan

        if self.number in _stopper_by_evaluation_id:
            raise ParameterError(
                "stop() watches only one evaluation at a time; call stop() once for each evaluation"
            )
        self.number, self.reason, self.answer, self.looked = task.eval_id, "", "", 0
        _stopper_by_evaluation_id[task.eval_id] = self
        _register_error_hook()
        self.rows: dict[tuple[str, int], dict[str, Any]] = {}
        self.model, self.epochs = task.model, epochs
        self.order, self.shuffled = (
            self._task_name_by_sample(task.task, samples),
            bool(task.dataset.shuffled),
        )
        planned_samples = self.options.get("planned") or len(self.order)
        self.plan = WatchPlan.from_options(planned_samples, epochs, self.options.get("every"), 0.95)
        return "passk"

    def _task_name_by_sample(self, suite: str, samples: list[Sample]) -> dict[str, str]:
        import passk_cli

        baseline, names = self.options.get("baseline"), [str(sample.id) for sample in samples]
        if baseline is not None:
            self.baseline = passk_cli.read(baseline)
            known_tasks = set(self.baseline.tasks)
            if not known_tasks.intersection(names) and any(
                f"{suite}/{name}" in known_tasks for name in names
            ):
                return {name: f"{suite}/{name}" for name in names}
        return {name: name for name in names}

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """The instruction to skip a sample, or None if Inspect must run the sample."""
        from inspect_ai.util import EarlyStop

        return EarlyStop(id=id, epoch=epoch, reason=self.reason) if self.reason else None

    async def complete_sample(
        self, id: str | int, epoch: int, scores: dict[str, SampleScore]
    ) -> None:
        """Add a sample with its score, and make an interim look at the run if a look is due."""
        if self.scorer is None and len(scores) > 1:
            names = ", ".join(sorted(scores))
            raise ParameterError(
                f"a sample has scores of several scorers ({names}); name one with scorer="
            )
        score = scores[self.scorer or next(iter(scores))].score.value
        value = value_to_float(score)
        self._add_sample(str(id), epoch, bool(value) if value in (0.0, 1.0) else value)

    def add_errored_sample(self, id: str | int, epoch: int) -> None:
        """Add a sample that ended with an error, if the option `missing` sets how such samples
        count."""
        if self.options.get("missing", "error") != "error":
            self._add_sample(str(id), epoch, None)

    def _add_sample(self, sample: str, epoch: int, value: Any) -> None:
        self.rows[sample, epoch] = {
            "model": self.model, "task": self.order[sample], "attempt": epoch, "passed": value,
        }  # fmt: skip
        complete = 0
        for name in self.order:
            if any((name, number + 1) not in self.rows for number in range(self.epochs)):
                break
            complete += 1
        due = [size for size in self.plan.task_counts_at_looks if self.looked < size <= complete]
        if due and not self.reason:
            self.looked = due[-1]
            self._take_interim_look()

    def _take_interim_look(self) -> None:
        import passk_cli

        options = dict(self.options)
        if options.get("baseline") is not None:
            options["baseline"] = self.baseline
        with warnings.catch_warnings():
            # Warnings would disturb the display of Inspect, so passk ignores all warnings. The log
            # of the evaluation contains the answer.
            warnings.simplefilter("ignore", passk_cli.PasskWarning)
            findings = passk_cli.watch(
                [*self.rows.values()], order=[*self.order.values()], attempts=self.epochs,
                **{**options, "planned": self.plan.total_tasks},
            )  # fmt: skip
        self.answer = str(findings).splitlines()[0]
        self.reason = "" if findings.report.provisional else self.answer

    async def complete_task(self) -> dict[str, Any]:
        """A summary of the interim looks for the log of Inspect."""
        _stopper_by_evaluation_id.pop(self.number, None)
        summary = {
            "answer": self.answer,
            "looked_at": self.looked,
            "planned": self.plan.total_tasks,
        }
        return summary | ({} if self.shuffled else {"warning": "samples were not shuffled"})


@cache
def _register_error_hook() -> None:
    """Register a hook for samples that end with an error, because Inspect does not report such
    samples to early stopping.
    """
    from inspect_ai.hooks import Hooks, hooks

    @hooks(name="passk", description="Reports samples that end with an error to passk.")
    class ErroredSamples(Hooks):  # type: ignore[misc, unused-ignore]
        async def on_sample_end(self, data: SampleEnd) -> None:
            stopper = _stopper_by_evaluation_id.get(data.eval_id)
            if stopper is not None and data.sample.error is not None:
                stopper.add_errored_sample(data.sample.id, data.sample.epoch)
