"""Results of google-adk: APP/.adk/eval_history/NAME.evalset_result.json.

Source: github.com/google/adk-python (Apache-2.0), src/google/adk/evaluation/eval_result.py,
eval_metrics.py and local_eval_service.py, read at 2.13.0: {eval_set_id, eval_case_results:
[{eval_id, final_eval_status, overall_eval_metric_results: [{metric_name, threshold, score,
eval_status}]}]}.  A status is 1 (passed), 2 (failed), 3 (not evaluated) or 4 (informational).
If a case runs several times, several results have the same eval_id.  If google-adk cannot run a
case, the result has no metrics and the status "failed". passk treats the outcome as missing.
"""

from __future__ import annotations

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    JudgedAttempts,
    OutcomeAndScoreByScorer,
    contents_with_scorer_outcomes,
    finite_number,
    judge_without_harness_pass_rule,
    require_list,
    value_at_key_path,
)

_FINAL_STATUS_KEY = "final_eval_status"


def _outcome_of_status(status: object) -> object:
    return True if status == 1 else False if status == 2 else None if status == 3 else status


def _contents(file: File) -> Contents:
    document = file.document()

    def cases() -> JudgedAttempts:
        results = value_at_key_path(document, "eval_case_results")
        results = require_list(file, "eval_case_results", results)
        for place, case in enumerate(results):
            metrics = value_at_key_path(case, "overall_eval_metric_results")
            metrics = require_list(file, "overall_eval_metric_results", metrics)
            status = _outcome_of_status(value_at_key_path(case, _FINAL_STATUS_KEY))
            judgements: OutcomeAndScoreByScorer = {_FINAL_STATUS_KEY: (status, None)}
            for metric in metrics:
                status, score = (
                    value_at_key_path(metric, "eval_status"),
                    value_at_key_path(metric, "score"),
                )
                judgement = (
                    judge_without_harness_pass_rule(score)
                    if status == 4
                    else (_outcome_of_status(status), finite_number(score))
                )
                judgements[str(value_at_key_path(metric, "metric_name"))] = judgement
            about = {
                "task": value_at_key_path(case, "eval_id"),
                "reason": "" if metrics else "error",
                "place": f"eval_case_results[{place}]",
                "record": case,
            }
            yield judgements, about

    facts = {
        "run": value_at_key_path(document, "eval_set_result_id"),
        "suite": value_at_key_path(document, "eval_set_id"),
    }
    return contents_with_scorer_outcomes(cases, _FINAL_STATUS_KEY, facts=facts)


GOOGLE_ADK = Format(
    "google-adk",
    "a final_eval_status of 1; a case that was not evaluated or could not run has no outcome."
    " --outcome selects one metric",
    "github.com/google/adk-python: src/google/adk/evaluation/eval_result.py, local_eval_service.py",
    lambda file: file.has_keys("eval_set_result_id", "eval_case_results[].eval_id"),
    _contents,
    cost_causes_besides_model="metrics that ask a model",
    example=Example(
        ("APP/.adk/eval_history/NAME.evalset_result.json",),
        """\
{"eval_set_result_id": "app_sums_1", "eval_set_id": "sums", "eval_case_results": [
   {"eval_id": "sum", "final_eval_status": 1, "overall_eval_metric_results": [
      {"metric_name": "response_match_score", "threshold": 0.8, "score": 0.9, "eval_status": 1}]},
   {"eval_id": "sum", "final_eval_status": 2, "overall_eval_metric_results": [
      {"metric_name": "response_match_score", "threshold": 0.8, "score": 0.4, "eval_status": 2}]}]}
""",
    ),
)
