"""Suggests commands that compare several runs of one model as if the runs were models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from passk_cli.commands.runner import ReadCountsFunction
from passk_cli.errors import ParameterError, PasskError
from passk_cli.files.request import Request
from passk_cli.files.roles import COLUMN_NAME_AS_MODEL
from passk_cli.files.sources.arguments import split_label
from passk_cli.files.sources.path_templates import run_label_by_file
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import all_in_words, plural
from passk_cli.study.duplicate_runs import require_no_copies
from passk_cli.study.pairwise_tests import OneModelError, require_several_models
from passk_cli.suggested_fix import SuggestedFix, shell_quoted

# passk checks for at most _MAX_TRIED_COLUMNS columns whether they may be the model column.
_MAX_TRIED_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class OneModelRuns:
    """Data with only one model, which may contain several runs of this model."""

    counts: Counts
    files: Sequence[str]
    request: Request
    read: ReadCountsFunction

    def explained_error(self, error: OneModelError) -> ParameterError:
        """The error for data that contain only one model.

        The error suggests only commands that work with these data.
        """
        files = all_in_words(plural(len(self.files), "file"))
        labels, paths = zip(*map(split_label, self.files), strict=True) if self.files else ((), ())
        if len(paths) > 1 and labels[0] and len({*labels}) == 1:
            arguments = SuggestedFix(
                {}, label_by_file=run_label_by_file(paths)
            ).labelled_file_arguments(paths)
            labelled = " ".join(map(shell_quoted, arguments))
            problem = f"nothing to compare: {files} have the label {labels[0]!r}; write {labelled}"
            return error.with_changes(ParameterError, problem=problem, settles=())
        fixes = [*islice(self._fixes(), 1)]
        settles = [*fixes, *(fix for fix in error.fixes if fix.is_complete or not fixes)]
        models, request = {model for model, *_ in self.counts.series}, self.request
        chosen = request.models or request.exclude_models
        if chosen or len(models) > 1 or not self._has_several_files:
            return error.with_changes(ParameterError, settles=settles)
        problem = f"nothing to compare: {files} contain only the model {models.pop()!r}"
        if not fixes:
            runs = SuggestedFix({}, label_by_file=run_label_by_file(self.files))
            try:
                counts = self.read(request, runs.labelled_file_arguments(self.files))
                require_no_copies(counts, request.models)
            except PasskError as failure:
                if failure.name == "duplicate-models":
                    problem += ", with the same outcomes; name a different run"
        return error.with_changes(ParameterError, problem=problem, settles=settles)

    @property
    def _has_several_files(self) -> bool:
        return len(self.files) > 1 and all(map(os.path.isfile, self.files))

    def _fixes(self) -> Iterator[SuggestedFix]:
        file = self.counts.read_facts.file_readings[0]
        if "," in file.roles.get("outcome", ""):
            yield from self._fix_if_it_works({"--field": {"model": COLUMN_NAME_AS_MODEL}})
        if self._has_several_files:
            for name in [file.roles.get("attempt", ""), *file.unused_columns][:_MAX_TRIED_COLUMNS]:
                yield from self._fix_if_it_works({"--field": {"model": name}}) if name else ()
            yield from self._fix_if_it_works({}, run_label_by_file(self.files))

    def _fix_if_it_works(
        self, options: dict[str, object], labels: Mapping[str, str] | None = None
    ) -> Iterator[SuggestedFix]:
        settle = SuggestedFix(options, label_by_file=labels or {})
        request = self.request.with_fix(settle)
        try:
            if self._has_several_files and len(self.read(request, [self.files[0]]).series) > 1:
                return
            counts = self.read(request, settle.labelled_file_arguments(self.files))
            require_several_models(counts)
            require_no_copies(counts, request.models)
        except PasskError:
            return
        places = range(len(counts.series))
        tasks = [{*counts.task_codes[counts.slice_of_series(s)].tolist()} for s in places]
        one_per_file = not self._has_several_files or len(tasks) == len(self.files)
        if (shared := len(set.intersection(*tasks))) and one_per_file:
            names = [*settle.label_by_file.values()] or [model for model, *_ in counts.series]
            names_text = " with ".join(names) if len(names) == 2 else plural(len(names), "model")
            yield replace(settle, effect=f"compares {names_text}: {plural(shared, 'shared task')}")
