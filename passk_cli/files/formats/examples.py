"""A small file of each format, as its harness writes it, without the keys that nobody reads here.

Values are invented.  A test reads each with the command that is shown beside it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A file of a format.

    paths : where such files lie, words in capitals standing for what differs; the first is that of
        the text.  text : the file; what is packed or binary as the JSON that it holds.
    arguments : what follows `passk estimate`, where it is more than the first path.
    instead : of what is refused, what to do.
    """

    paths: tuple[str, ...]
    text: str
    arguments: str = ""
    instead: str = ""

    @property
    def use(self) -> str:
        """The command that reads it, or what to do instead."""
        return self.instead or f"passk estimate {self.arguments or self.paths[0]}"


EXAMPLES = {
    "inspect": Example(
        ("logs/LOG.json", "logs/LOG.eval"),
        """\
{"version": 2, "status": "success",
 "eval": {"task": "gsm8k", "run_id": "r1", "model": "openai/gpt-5.5"},
 "samples": [
   {"id": 1, "epoch": 1, "scores": {"match": {"value": "C", "answer": "4"}}},
   {"id": 1, "epoch": 2, "scores": {"match": {"value": "I", "answer": "5"}}},
   {"id": 2, "epoch": 1, "scores": {"match": {"value": "C", "answer": "7"}}},
   {"id": 2, "epoch": 2, "scores": {"match": {"value": "C", "answer": "7"}}}
 ]}
""",
        "logs",
    ),
    "cruxeval": Example(
        ("MODEL_temp0.2.json",),
        """\
{"raw_generations": {"sample_0": ["f(1)", "f(2)"], "sample_1": ["f(3)", "f(4)"]},
 "raw_scored_generations": {"sample_0": [true, false], "sample_1": [true, true]},
 "pass_at_1": 75.0, "pass_at_5": 100.0}
""",
    ),
    "bigcodebench": Example(
        ("MODEL--bigcodebench-complete--BACKEND-0.8-2-sanitized_calibrated_eval_results.json",),
        """\
{"date": "2026-01-01 12:00",
 "eval": {
   "BigCodeBench/0": [{"task_id": "BigCodeBench/0", "status": "pass"},
                      {"task_id": "BigCodeBench/0", "status": "fail"}],
   "BigCodeBench/1": [{"task_id": "BigCodeBench/1", "status": "pass"},
                      {"task_id": "BigCodeBench/1", "status": "timeout"}]
 }}
""",
    ),
    "deepeval": Example(
        (".deepeval/.latest_test_run.json", "RESULTS_FOLDER/test_run_TIME.json"),
        """\
{"testRunData": {
   "identifier": "nightly", "hyperparameters": {"model": "gpt-5.5"},
   "testCases": [
     {"name": "test_case_0", "input": "1 + 1", "actualOutput": "2", "success": true,
      "metricsData": [{"name": "Exact Match", "success": true, "score": 1.0}]},
     {"name": "test_case_1", "input": "1 + 2", "actualOutput": "4", "success": false,
      "metricsData": [{"name": "Exact Match", "success": false, "score": 0.0}]}
   ],
   "conversationalTestCases": [], "metricsScores": []}}
""",
    ),
    "evalplus": Example(
        ("evalplus_results/humaneval/MODEL_temp_0.8_eval_results.json",),
        """\
{"date": "2026-01-01 12:00", "hash": "84f4",
 "eval": {
   "HumanEval/0": [{"task_id": "HumanEval/0", "base_status": "pass", "plus_status": "fail"},
                   {"task_id": "HumanEval/0", "base_status": "pass", "plus_status": "pass"}],
   "HumanEval/1": [{"task_id": "HumanEval/1", "base_status": "fail", "plus_status": "fail"},
                   {"task_id": "HumanEval/1", "base_status": "pass", "plus_status": "pass"}]
 }}
""",
        "evalplus_results/humaneval --outcome plus",
    ),
    "evalscope": Example(
        ("outputs/TIME/reviews/MODEL/gsm8k_main.jsonl",),
        """\
{"index": 0, "sample_score": {"score": {"value": {"acc": 1.0}}, "sample_id": 0, "group_id": 0}}
{"index": 1, "sample_score": {"score": {"value": {"acc": 0.0}}, "sample_id": 1, "group_id": 1}}
""",
        "outputs/TIME/reviews",
    ),
    "every-eval-ever": Example(
        ("BENCHMARK/ORGANISATION/MODEL/ID.jsonl",),
        """\
{"model_id": "org/m", "evaluation_name": "sums", "sample_id": "1",\
 "evaluation": {"is_correct": true}}
{"model_id": "org/m", "evaluation_name": "sums", "sample_id": "2",\
 "evaluation": {"is_correct": false}}
""",
        "BENCHMARK",
    ),
    "helm": Example(
        ("benchmark_output/runs/SUITE/mmlu:subject=law,model=MODEL/per_instance_stats.json",),
        """\
[{"instance_id": "id1", "train_trial_index": 0, "stats": [
   {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 1.0}]},
 {"instance_id": "id2", "train_trial_index": 0, "stats": [
   {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 0.0}]}]
""",
        "benchmark_output/runs/SUITE --outcome exact_match",
    ),
    "human-eval": Example(
        ("samples.jsonl_results.jsonl",),
        """\
{"task_id": "HumanEval/0", "completion": "return 1", "result": "passed", "passed": true}
{"task_id": "HumanEval/0", "completion": "return 2", "result": "failed: ", "passed": false}
{"task_id": "HumanEval/1", "completion": "return 3", "result": "passed", "passed": true}
{"task_id": "HumanEval/1", "completion": "return 4", "result": "timed out", "passed": false}
""",
    ),
    "lighteval": Example(
        ("details/ORGANISATION/MODEL/2026-01-01T00-00-00.000000/details_gsm8k_TIME.parquet",),
        """\
{"doc": {"id": "0", "task_name": "gsm8k|5", "num_samples": 1},
 "metric": {"extractive_match": 1.0}, "model_response": {"text": ["4"]}}
{"doc": {"id": "1", "task_name": "gsm8k|5", "num_samples": 1},
 "metric": {"extractive_match": 0.0}, "model_response": {"text": ["5"]}}
""",
        "details",
    ),
    "livecodebench": Example(
        ("output/MODEL/Scenario.codegeneration_2_0.2_eval_all.json",),
        """\
[{"question_id": "2819", "difficulty": "easy", "contest_date": "2025-05-28T00:00:00",
  "code_list": ["print(1)", "print(2)"], "graded_list": [true, false], "pass@1": 0.5},
 {"question_id": "2820", "difficulty": "hard", "contest_date": "2025-05-28T00:00:00",
  "code_list": ["print(3)", "print(4)"], "graded_list": [true, true], "pass@1": 1.0}]
""",
    ),
    "lm-eval": Example(
        ("OUTPUT/MODEL/samples_gsm8k_2026-01-01T12-00-00.000000.jsonl",),
        """\
{"doc_id": 0, "resps": [["4"]], "filtered_resps": ["4"], "metrics": ["acc"], "acc": 1.0}
{"doc_id": 1, "resps": [["5"]], "filtered_resps": ["5"], "metrics": ["acc"], "acc": 0.0}
""",
        "OUTPUT",
    ),
    "math-evaluation": Example(
        ("outputs/MODEL/math/test_cot_-1_seed0_t0.6_s0_e-1.jsonl",),
        """\
{"idx": 0, "gt": "0", "code": ["…", "…"], "pred": ["0", "1"], "score": [true, false]}
{"idx": 1, "gt": "2", "code": ["…", "…"], "pred": ["2", "2"], "score": [true, true]}
""",
        "outputs",
    ),
    "multipl-e": Example(
        ("humaneval-rkt-MODEL-0.2/HumanEval_0_TASK.results.json.gz",),
        """\
{"name": "HumanEval_0_TASK", "language": "rkt", "temperature": 0.2, "results": [
   {"program": "…", "exit_code": 0, "status": "OK"},
   {"program": "…", "exit_code": 0, "status": "Exception"}]}
""",
        "humaneval-rkt-MODEL-0.2",
    ),
    "nemo-evaluator": Example(
        ("RUN/BENCHMARK/results.jsonl",),
        """\
{"problem_idx": 0, "repeat": 0, "reward": 1.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 0, "repeat": 1, "reward": 0.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 1, "repeat": 0, "reward": 1.0, "scoring_details": {"method": "exact"}}
{"problem_idx": 1, "repeat": 1, "reward": 1.0, "scoring_details": {"method": "exact"}}
""",
        "RUN",
    ),
    "nemo-skills": Example(
        ("RUN/eval-results/BENCHMARK/output-rs0.jsonl",),
        """\
{"problem": "1 + 1", "predicted_answer": "2", "symbolic_correct": true,\
 "num_generated_tokens": 44}
{"problem": "1 + 2", "predicted_answer": "4", "symbolic_correct": false,\
 "num_generated_tokens": 51}
""",
        "RUN",
    ),
    "openai-evals": Example(
        ("evallogs/TIMEID_MODEL_EVAL.jsonl",),
        """\
{"spec": {"completion_fns": ["gpt-5.5"], "eval_name": "sums.dev.v0", "run_id": "26AA"}}
{"run_id": "26AA", "sample_id": "sums.dev.0", "type": "match", "data": {"correct": true}}
{"run_id": "26AA", "sample_id": "sums.dev.1", "type": "match", "data": {"correct": false}}
""",
        "evallogs",
    ),
    "opencompass": Example(
        ("outputs/default/TIME/results/MODEL/gsm8k.json",),
        """\
{"accuracy": 75.0, "details": [
   {"example_abbr": "gsm8k_0", "pred": ["4", "5"], "correct": [true, false]},
   {"example_abbr": "gsm8k_1", "pred": ["7", "7"], "correct": [true, true]}]}
""",
        "outputs/default/TIME/results",
    ),
    "phoenix": Example(
        ("EXPERIMENT.json",),
        """\
[{"example_id": "RGF0YTox", "repetition_number": 1, "output": "2", "error": null,
  "annotations": [{"name": "exact", "label": "same", "score": 1.0}]},
 {"example_id": "RGF0YTox", "repetition_number": 2, "output": "3", "error": null,
  "annotations": [{"name": "exact", "label": "other", "score": 0.0}]}]
""",
    ),
    "promptfoo": Example(
        ("output.json", "output.jsonl"),
        """\
{"evalId": "eval-a", "results": {"results": [
   {"promptIdx": 0, "testIdx": 0, "vars": {"q": "1 + 1"}, "success": true, "score": 1,
    "failureReason": 0, "provider": {"id": "openai:gpt-5.5"}, "prompt": {"label": "{{q}}"}},
   {"promptIdx": 0, "testIdx": 1, "vars": {"q": "1 + 2"}, "success": false, "score": 0,
    "failureReason": 1, "provider": {"id": "openai:gpt-5.5"}, "prompt": {"label": "{{q}}"}}
 ]}}
""",
    ),
    "pytest-json-report": Example(
        (".report.json",),
        """\
{"created": 1795408211.87, "exitcode": 1, "root": "/suite",
 "environment": {"Plugins": {"repeat": "0.9.4"}},
 "summary": {"passed": 3, "failed": 1, "total": 4, "collected": 4},
 "tests": [{"nodeid": "test_agent.py::test_refund[1-2]", "outcome": "passed"},
           {"nodeid": "test_agent.py::test_refund[2-2]", "outcome": "failed"},
           {"nodeid": "test_agent.py::test_search[1-2]", "outcome": "passed"},
           {"nodeid": "test_agent.py::test_search[2-2]", "outcome": "passed"}]}
""",
    ),
    "aider": Example(
        ("tmp.benchmarks/RUN/LANGUAGE/exercises/practice/TASK/.aider.results.json",),
        """\
{"testcase": "bowling", "model": "gpt-5.5", "edit_format": "diff",
 "tests_outcomes": [false, true], "cost": 0.01, "duration": 12.5}
""",
        instead="run the benchmark several times with one try each, and give a table of task and"
        " outcome",
    ),
    "bfcl-scores": Example(
        ("score/MODEL/BFCL_v3_simple_score.json",),
        """\
{"accuracy": 0.75, "correct_count": 3, "total_count": 4}
{"id": "simple_2", "valid": false, "error": ["Wrong function name."]}
""",
        instead="take all ids from BFCL's result files and give a table of task and outcome",
    ),
    "bigcode-generations": Example(
        ("generations.json",),
        """\
[["def one():\\n    return 1"], ["def two():\\n    return 2"]]
""",
        instead="give a file that says which of them pass, such as the output of EvalPlus",
    ),
    "tau2-submission": Example(
        ("submissions/MODEL/submission.json",),
        """\
{"model_name": "gpt-5.5", "submission_date": "2026-01-15",
 "results": {"retail": {"pass_1": 78.5, "pass_2": 72.1}}}
""",
        instead="give the files of its trajectories",
    ),
    "lm-eval-results": Example(
        ("OUTPUT/MODEL/results_TIME.json",),
        """\
{"results": {"gsm8k": {"alias": "gsm8k", "exact_match,strict-match": 0.75}},
 "configs": {"gsm8k": {"task": "gsm8k"}}, "versions": {"gsm8k": 3}, "n-shot": {"gsm8k": 5}}
""",
        instead="evaluate with --log_samples and give the folder, or its samples_*.jsonl",
    ),
    "harbor": Example(
        ("jobs/JOB/TASK__ID/result.json",),
        """\
{"task_name": "fix-bug", "trial_name": "fix-bug__a1b2c3d",
 "config": {"agent": {"name": "codex", "model_name": "openai/gpt-5.5"}},
 "agent_info": {"name": "codex", "model_info": {"name": "gpt-5.5", "provider": "openai"}},
 "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": null}
""",
        "jobs",
    ),
    "terminal-bench": Example(
        ("runs/TIME/results.json",),
        """\
{"results": [
   {"trial_name": "sum.1-of-2.TIME", "task_id": "sum", "is_resolved": true,
    "failure_mode": "unset"},
   {"trial_name": "sum.2-of-2.TIME", "task_id": "sum", "is_resolved": false,
    "failure_mode": "unset"}],
 "n_resolved": 1, "n_unresolved": 1, "accuracy": 0.5}
""",
        "runs",
    ),
    "tau-bench": Example(
        ("results/tool-calling-MODEL-0.0_range_0--1_user-MODEL-llm_TIME.json",),
        """\
[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": []},
 {"task_id": 0, "trial": 1, "reward": 0.0, "info": {}, "traj": []},
 {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": []},
 {"task_id": 1, "trial": 1, "reward": 1.0, "info": {}, "traj": []}]
""",
    ),
    "tau2": Example(
        ("data/simulations/RUN.json", "data/simulations/RUN/results.json"),
        """\
{"timestamp": "2026-01-01T12:00:00",
 "info": {"agent_info": {"implementation": "llm_agent", "llm": "gpt-5.5"},
          "environment_info": {"domain_name": "airline"}},
 "tasks": [{"id": "0"}],
 "simulations": [
   {"task_id": "0", "trial": 0, "termination_reason": "user_stop",
    "reward_info": {"reward": 1.0}},
   {"task_id": "0", "trial": 1, "termination_reason": "agent_stop",
    "reward_info": {"reward": 0.0}}]}
""",
        "data/simulations",
    ),
    "mcpmark": Example(
        ("results/EXPERIMENT/MODEL__postgres/run-1/CATEGORY__TASK/meta.json",),
        """\
{"task_name": "CATEGORY__TASK", "model_name": "gpt-5.5", "mcp": "postgres",
 "execution_result": {"success": true, "error_message": null}}
""",
        "results/EXPERIMENT",
    ),
    "swe-bench": Example(
        ("MODEL.RUN.json",),
        """\
{"total_instances": 4, "submitted_instances": 4, "completed_instances": 3,
 "resolved_instances": 2, "unresolved_instances": 1, "empty_patch_instances": 1,
 "error_instances": 0,
 "submitted_ids": ["astropy-1", "django-2", "django-3", "sympy-4"],
 "completed_ids": ["astropy-1", "django-2", "django-3"], "incomplete_ids": [],
 "resolved_ids": ["astropy-1", "django-2"], "unresolved_ids": ["django-3"],
 "empty_patch_ids": ["sympy-4"], "error_ids": [], "schema_version": 2}
""",
    ),
    "swe-bench-instance": Example(
        ("logs/run_evaluation/RUN/MODEL/astropy-1/report.json",),
        """\
{"astropy-1": {"patch_is_None": false, "patch_exists": true,
               "patch_successfully_applied": true, "resolved": true}}
""",
        "logs/run_evaluation",
    ),
    "swe-bench-pro": Example(
        ("traj/MODEL/eval_results.json",),
        """\
{"instance_ansible__ansible-1": true, "instance_openlibrary-2": false}
""",
        "traj",
    ),
    "verifiers": Example(
        ("outputs/evals/ENVIRONMENT--MODEL/ID/results.jsonl",),
        """\
{"example_id": 0, "prompt": [], "completion": [], "answer": "4", "reward": 1.0, "error": null}
{"example_id": 0, "prompt": [], "completion": [], "answer": "4", "reward": 0.0, "error": null}
{"example_id": 1, "prompt": [], "completion": [], "answer": "7", "reward": 1.0, "error": null}
{"example_id": 1, "prompt": [], "completion": [], "answer": "7", "reward": 1.0, "error": null}
""",
        "outputs/evals",
    ),
    "verifiers-traces": Example(
        ("outputs/ENVIRONMENT--MODEL/ID/traces.jsonl",),
        """\
{"task": {"key": "a1"}, "agent": {"config": {"model": "gpt-5.5"}}, "nodes": [],\
 "rewards": {"exact": {"score": 1.0}}}
{"task": {"key": "b2"}, "agent": {"config": {"model": "gpt-5.5"}}, "nodes": [],\
 "rewards": {"exact": {"score": 0.0}}}
""",
        "outputs",
    ),
    "verl": Example(
        ("validation/100.jsonl",),
        """\
{"input": "1 + 1?", "output": "2", "gts": "2", "score": 1.0, "step": 100, "acc": true}
{"input": "1 + 2?", "output": "4", "gts": "3", "score": 0.0, "step": 100, "acc": false}
""",
        "validation",
    ),
    "hal": Example(
        ("results/BENCHMARK/RUN/RUN_UPLOAD.json",),
        """\
{"config": {"agent_name": "Few Shot (gpt-5.5)", "benchmark_name": "taubench_airline",
            "run_id": "taubench_airline_1"},
 "results": {"accuracy": 0.5, "successful_tasks": ["0"], "failed_tasks": ["1"]}}
""",
        "results",
    ),
    "records": Example(
        ("RESULTS.json",),
        """\
[{"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
 {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]
""",
        "RESULTS.json --from records",
    ),
    "task-outcomes": Example(
        ("MODEL.json",),
        """\
{"a": [true, false], "b": [true, true]}
""",
    ),
    "task-records": Example(
        ("MODEL.json",),
        """\
{"a": {"passed": true, "seconds": 12.5}, "b": {"passed": false, "seconds": 3.1}}
""",
    ),
    "list-of-records": Example(
        ("RESULTS.json",),
        """\
{"model": "gpt-5.5", "date": "2026-01-01", "results": [
   {"task": "a", "attempt": 1, "passed": true}, {"task": "a", "attempt": 2, "passed": false},
   {"task": "b", "attempt": 1, "passed": true}, {"task": "b", "attempt": 2, "passed": true}]}
""",
    ),
    "id-lists": Example(
        ("MODEL.json",),
        """\
{"passed": ["a", "c"], "failed": ["b"]}
""",
    ),
    "record": Example(
        ("RUN/TASK.json",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true, "seconds": 12.5}
""",
        "RUN",
    ),
    "jsonl": Example(
        ("RESULTS.jsonl",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}
{"task": "b", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "b", "model": "gpt-5.5", "attempt": 2, "passed": true}
""",
    ),
    "json": Example(
        ("RESULTS.json",),
        """\
[{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true},
 {"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}]
""",
    ),
    "csv": Example(
        ("RESULTS.csv",),
        """\
task,model,attempt,passed
a,gpt-5.5,1,1
a,gpt-5.5,2,0
b,gpt-5.5,1,1
b,gpt-5.5,2,1
""",
    ),
    "tsv": Example(
        ("RESULTS.tsv",),
        """\
task\tmodel\tn\tc
a\tgpt-5.5\t10\t4
b\tgpt-5.5\t10\t9
""",
    ),
    "parquet": Example(
        ("RESULTS.parquet",),
        """\
{"task": "a", "model": "gpt-5.5", "attempt": 1, "passed": true}
{"task": "a", "model": "gpt-5.5", "attempt": 2, "passed": false}
""",
    ),
}
