"""Explanations of all errors by name: what each error means, and what to do about the error.

An error contains its name as text, for example `DataError(place, problem, name="no-such-file")`, so
that raising an error does not import this module.
"""

from passk_cli.diagnostic import ERROR, DiagnosticType

# _EXPLANATIONS_BY_ERROR_NAME maps the name of an error to the problem, an explanation and advice.
# Errors about options come first, and errors about files follow.
_EXPLANATIONS_BY_ERROR_NAME = {
    "usage": (
        "the command line is not understood",
        "The command does not have an option of this name, an option has no value, or there are"
        " too many or too few arguments.",
        "`passk COMMAND --help` lists the options of a command, and `passk help COMMAND` explains"
        " all options.",
    ),
    "bad-option-value": (
        "an option has a value that it does not accept",
        "The value is out of range, is not one of the choices, or is not written in the form that"
        " the option needs.",
        "Correct the value. The message names the option and the values that the option accepts.",
    ),
    "contradicting-options": (
        "two options cannot be used together, or an option needs another option",
        "Two options contradict each other, or an option has no effect without a second option.",
        "Leave out the option that the message names, or add the missing option.",
    ),
    "no-files": (
        "no files are given",
        "The command needs result files, but you did not name any file.",
        "Name files, folders, globs or URLs. You can label a file with label=path. Use - for"
        " standard input.",
    ),
    "bad-rules": (
        "a rules file has a mistake",
        "A rules file is a TOML file that starts with the options for all suites. Each suite has a"
        " [[suite]] table with its name, runs and rules. Each rule has the same name as an option"
        " of `passk gate`.",
        "Correct the line that the message names. `passk gate --rules FILE --check` checks the"
        " file without data.",
    ),
    "untrusted-rules": (
        "a rules file names a file outside its own folder",
        "A rules file may name only files in its own folder or in subfolders. URLs, absolute paths,"
        " and paths or links that lead out of the folder need --trust-rules (in Python"
        " trust_rules=True). The restriction protects you if a rules file comes from a stranger,"
        " for example in a pull request. passk did not open or fetch any file.",
        "Move the file into the folder of the rules, or use --trust-rules if you trust the author"
        " of the rules.",
    ),
    "bad-map": (
        "a map has a mistake",
        "A map is a TOML file with one table [data], or with several tables [[data]]. Each key of a"
        " table is the role of a column or an option for reading.",
        "Correct the line that the message names. `passk describe FILE --init passk.toml` writes a"
        " map, and --map none reads the data without a map.",
    ),
    "open-role": (
        "a map does not name a column for a role yet",
        "If `passk describe FILE --init` cannot identify the column of a role, the map lists"
        " candidates below the role. passk cannot read the data until you choose a column.",
        "In the map, write the name of one of the candidates next to the role.",
    ),
    "unknown-name": (
        "no command or message has this name",
        "`passk help` explains commands, messages, options, metrics, columns and terms.",
        "`passk --help` lists the commands, and `passk help messages` lists the messages and"
        " errors.",
    ),
    "unknown-metric": (
        "a metric does not exist, or the command does not accept it",
        "Examples of metrics are pass@10, pass^4, gpass@8:0.5, best@k and mean. Some commands"
        " accept only metrics of passes and failures.",
        "Choose one of the metrics that the message lists.",
    ),
    "invalid-method": (
        "an interval, test or adjustment is not valid for this question",
        "An interval or a test is valid only for a population (new tasks or these tasks) and for"
        " some metrics. passk stops if you choose a method that is not valid for your question.",
        "Leave the option out. The default method is valid for every question that passk can"
        " answer.",
    ),
    "no-bounds": (
        "a result cannot be computed for all possible values of missing data",
        "With --missing bounds, passk computes every number twice, once with all missing outcomes"
        " as failures and once with all missing outcomes as passes. The result is a range between"
        " the two numbers. --missing bounds works for metrics that rise with every pass, such as"
        " pass@k and pass^k. Other metrics may be lowest or highest if only some of the missing"
        " outcomes are passes.",
        "Use --missing fail or --missing drop.",
    ),
    "too-large": (
        "the computation is too large",
        "The computation would need too much time or memory. The message names the limit.",
        "Reduce the number that the message names, for example k, --resamples or the number of"
        " models.",
    ),
    "no-such-model": (
        "no model has this name",
        "No model in the data matches the name or pattern that you gave with --model,"
        " --exclude-model, --baseline or --against.",
        "Choose a name that the message lists. `passk describe FILE` lists all models.",
    ),
    "run-lacks-attempts": (
        "a run lacks tasks or attempts that the last complete run of its suite has",
        "A part of the run was probably lost, for example because a shard crashed or attempts"
        " timed out.",
        "Run the missing attempts, or record the run with `--incomplete`. An incomplete run stays"
        " in the history, but no baseline uses it. If you changed the benchmark on purpose, start"
        " a new suite with `--suite NAME`.",
    ),
    "no-history-yet": (
        "a history does not exist yet, or it has no run of this suite",
        "Either the history was lost, or this is the first run. The gate does not pass, because"
        " passk cannot distinguish a lost history from a first run.",
        "If the history was lost, restore the file. Store a history as an artifact or in a branch,"
        " because a cache may be deleted. For the first run, use `passk gate --first-run` once,"
        " which skips rules about changes.",
    ),
    "no-such-suite": (
        "a history or a rules file has no suite with this name",
        "`passk record --suite` sets the suite of a run in a history. In a rules file, each"
        " [[suite]] has a name.",
        "`--baseline history.parquet:SUITE:last5` compares with the runs of one suite. `passk watch"
        " --rules FILE --suite NAME` watches one suite of the rules file.",
    ),
    "no-order": (
        "the order of the tasks is not known",
        "`passk watch` needs an order of the tasks that was fixed before the run. Each interim look"
        " at the run uses the first tasks in this order.",
        "Use `--order FILE` with a file that contains one task per line. Logs of shuffled Inspect"
        " runs already contain the order. `--order completion` uses the order in which tasks were"
        " completed.",
    ),
    "other-plan": (
        "a run or a looks file does not fit the plan",
        "Interim looks keep their significance level only if the plan was fixed before the first"
        " look. The plan consists of the tasks, the attempts, the number of tasks between looks,"
        " the rules, the baseline and the order.",
        "If you want to change the plan, start with a new run and a new looks file.",
    ),
    "unplanned-attempts": (
        "tasks have more or fewer attempts than planned",
        "Lost attempts are often failures, so the pass rate of the remaining attempts is too high.",
        "Complete the run. If you want to leave out and list the tasks with too few or too many"
        " attempts, use --short-tasks drop.",
    ),
    "other-run": (
        "tasks of an earlier interim look are now missing, or their outcomes have changed",
        "An interim look uses complete tasks, which should not change later. If a complete task"
        " changes or disappears, the looks file probably belongs to a different run.",
        "Name the run that belongs to the looks file, or name a different looks file with"
        " `--looks`.",
    ),
    "bad-looks": (
        "a file does not contain interim looks",
        "`passk watch` stores interim looks in a JSON file next to the run, or in the file that"
        " `--looks` names. The given file contains something else.",
        "Name a different file with `--looks`.",
    ),
    "no-such-column": (
        "the data has no column of this name",
        "The message lists similar columns, or all columns. Write a nested key as outer.inner.",
        "Correct the name. `passk describe FILE` shows how a file is read.",
    ),
    "bad-condition": (
        "a condition is not understood",
        "A condition compares columns with values, for example --where \"temperature < 0.5 AND"
        " split = 'test'\".",
        "Correct the condition. Put strings in single quotes.",
    ),
    "reserved-column": (
        "a column of the data has the name of a column of the output",
        "The output would have two columns with the same name.",
        "Rename the column in the data.",
    ),
    "bad-path": (
        "a path pattern does not match a file",
        "--path reads columns from the paths of files, for example"
        " '{model}/{task}/run-{attempt}.json'. The path of every file with results must match the"
        " pattern in exactly one way.",
        "Correct the pattern. * matches any text, and **/ matches folders.",
    ),
    "too-few-attempts": (
        "k is larger than the number of attempts",
        "pass@k and pass^k need at least k attempts per task, but every task has fewer than k"
        " attempts.",
        "Choose a smaller k, run more attempts, or use `passk extrapolate`, which predicts pass@k"
        " for a larger k.",
    ),
    "nothing-to-compare": (
        "there are no two models with shared tasks",
        "A comparison needs two models, or a model and a baseline, that have tasks in common.",
        "Add a file, or label the runs with label=path. `passk describe` shows which models and"
        " tasks passk reads.",
    ),
    "different-tasks": (
        "two models have different tasks",
        "A paired comparison uses only the tasks that both models have.",
        "If you want to compare only the shared tasks, use --unpaired drop, which leaves out all"
        " other tasks.",
    ),
    "no-pilot": (
        "`passk plan` has no results of a pilot run",
        "`passk plan` needs to know how success rates vary between tasks, for example from a pilot"
        " run.",
        "Name the result files of a pilot run, or use --mean and --spread.",
    ),
    "no-rule": (
        "a gate has no rule to check",
        "The rules of a gate decide whether a run passes or fails.",
        "Add at least one rule: --max-drop METRIC=X, --min METRIC=X, --no-regression or"
        " --must-pass.",
    ),
    "no-chart": (
        "there is nothing to draw",
        "passk could not compute any number of the result, so a chart would be empty.",
        "Run the same command without --chart, and read the messages that explain why there are no"
        " numbers.",
    ),
    "bad-output": (
        "an output cannot be written as requested",
        "The folder does not exist, no format has the suffix, two outputs have the same name, or an"
        " output would overwrite an input. passk did not read or write any file.",
        "Correct the name of the output, or the option that the message names.",
    ),
    "no-history": (
        "a file does not contain a history of runs",
        "`passk trend` and `passk record --to FILE` need a file that `passk record` wrote. A"
        " history is a table with one row per run and task. Its columns are run, at, revision,"
        " suite, model, task, n, c and settings.",
        "Name a history, or record runs with `passk record`.",
    ),
    "recorded-run": (
        "the history already contains a run with this name",
        "A history contains each run only once per suite and model. The name of a run is its"
        " revision, unless you set the name with --run. passk did not change the history.",
        "If this is a new run, give it another name with --run.",
    ),
    "other-groups": (
        "the run is not split by the same columns as the history",
        "All runs of a history must be recorded with the same value of --by. passk did not change"
        " the history.",
        "Use --by with the columns of the history.",
    ),
    "unwritable-output": (
        "a file or stream cannot be written",
        "You have no permission to write, the disk is full, or a folder has the name of the file."
        " passk writes outputs completely or not at all.",
        "Solve the problem that the message names, or write to another folder.",
    ),
    "no-room": (
        "there is not enough disk space for temporary files",
        "passk stores data from a pipe or the network in temporary files while it reads the data.",
        "Set TMPDIR to a folder with more free space, or name a local file.",
    ),
    "out-of-memory": (
        "there is not enough memory",
        "The data or the computation does not fit into the memory of this machine.",
        "Read fewer models or rows at once (--model, --where), convert the files with `passk"
        " convert --counts` first, or use a machine with more memory.",
    ),
    "missing-package": (
        "a package that this option needs is not installed",
        "Cloud storage, Spark and some other features need packages that are not installed by"
        " default.",
        "To install the package, run the command that the message shows.",
    ),
    "no-such-file": (
        "a file does not exist",
        "No file has this path, or no file matches this pattern.",
        "Check the spelling and the folder. Quote a pattern so that the shell does not change it.",
    ),
    "unreadable-file": (
        "a file cannot be read",
        "You have no permission to read the file, the path is a device, or the file was deleted"
        " while passk read it.",
        "Check the permissions of the file, and check that no program is still writing the file.",
    ),
    "damaged-file": (
        "a file is cut off or damaged",
        "A compressed file, an archive or a Parquet file is incomplete.",
        "Copy the file again, and check that the run that wrote the file has ended.",
    ),
    "suspicious-archive": (
        "an archive would unpack to an unusually large size",
        "The files in the archive overlap, or are much larger than the archive, as in many"
        " malicious archives.",
        "If you trust the archive, unpack it yourself and name the unpacked files.",
    ),
    "not-fetched": (
        "a remote file cannot be fetched",
        "The server does not answer, denies access, closes the connection early, or does not send"
        " a file.",
        "Try again, check the URL and the credentials, or download the file yourself.",
    ),
    "changed-file": (
        "a file changed while it was read",
        "A run is probably still writing the file, so the counts would be wrong.",
        "Read the file again when the run has ended.",
    ),
    "no-results": (
        "a file or folder contains no results",
        "The file or folder is empty, or contains no records of attempts. In a folder, passk skips"
        " single files without results, but a single file that you name must contain results.",
        "Check that the run wrote its results.",
    ),
    "unknown-format": (
        "the format of a file is not recognised",
        "passk reads JSONL, JSON, CSV, TSV, Parquet, and the formats that `passk formats` lists.",
        "Name the format with --from.",
    ),
    "ambiguous-records": (
        "a document contains several lists that could be the list of attempts",
        "A JSON document contains several lists of records, or it contains an outcome and also a"
        " list of records with outcomes. The outcome of the document may summarise the records.",
        "Choose a list with --records KEY. If the document itself is the record of an attempt, use"
        " --records .",
    ),
    "bad-record": (
        "a line or record is malformed",
        "The line is not JSON, is too large, has more or fewer fields than the header, or contains"
        " the same key twice. The message names the file and the line.",
        "Correct the line, or skip malformed lines with --skip-bad, which reports how many lines"
        " were skipped.",
    ),
    "bad-encoding": (
        "a text is not UTF-8",
        "passk reads only text in UTF-8.",
        "Save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`.",
    ),
    "no-task-column": (
        "no column is recognised as the task",
        "Every attempt belongs to a task.",
        "Name the column with --field task=COLUMN. The message lists the columns.",
    ),
    "no-outcome-column": (
        "no column is recognised as the outcome",
        "The outcome is whether an attempt passed.",
        "Name the column with --field outcome=COLUMN. If the column contains scores, use"
        " --threshold X to count scores of X or more as passes.",
    ),
    "preferences": (
        "a table contains preferences, not outcomes",
        "Each row names the better of two answers, but passk needs attempts that pass or fail.",
        "Write a table with one row per answer, which contains the outcome of the answer.",
    ),
    "summary": (
        "a table summarises attempts",
        "The columns contain averages, such as success_rate or pass@5, but passk needs the outcomes"
        " of attempts, or counts.",
        "Name a file with attempts, or columns with counts (--field n=COLUMN --field c=COLUMN).",
    ),
    "no-model-column": (
        "the column named model contains objects",
        "passk cannot use a JSON object as the name of a model.",
        "Choose the key of the object that contains the name with --field model=model.KEY, or"
        " choose another column.",
    ),
    "no-role-column": (
        "no column contains a value that a metric or a command needs for each attempt",
        "For example, maj@k needs answers, passk cost needs costs, and passk order needs the"
        " number or the time of an attempt.",
        "Name the column with --field ROLE=COLUMN. `passk describe FILE` lists the columns.",
    ),
    "ambiguous-column": (
        "several columns could have the same role",
        "passk does not guess which column is right, because all numbers depend on this choice.",
        "Choose a column with --field ROLE=COLUMN.",
    ),
    "no-such-outcome": (
        "a file does not have this outcome",
        "The run was not scored, or --outcome names a scorer that did not score the run.",
        "Choose one of the outcomes that the message lists.",
    ),
    "several-outcomes": (
        "a file has several outcomes",
        "Several scorers judged the attempts, and their outcomes may differ.",
        "Choose one outcome with --outcome NAME.",
    ),
    "bad-outcome": (
        "an outcome is neither pass nor fail",
        "An outcome is true or false, 1 or 0, pass or fail.",
        "If the value is a score, use --threshold X to count scores of X or more as passes. The"
        " metrics best@k and mean use scores directly.",
    ),
    "unmatched-words": (
        "no outcome in the data is a word that you named",
        "Without a match, passk would treat all outcomes in the same way. The message lists the"
        " outcomes in the files and how often they occur.",
        "In --passes or --fails, use words that the message lists.",
    ),
    "unjudged-numbers": (
        "some outcomes are words and some are numbers",
        "--passes contains words that mean pass, but passk does not know which numbers mean pass.",
        "Add --threshold X to count numbers of X or more as passes.",
    ),
    "missing-outcome": (
        "an attempt has no outcome",
        "An attempt without an outcome, for example after a timeout or a crash, may or may not be a"
        " failure. All numbers depend on how you count missing outcomes.",
        "Choose --missing fail, --missing drop, or --missing bounds, which gives a range for every"
        " number.",
    ),
    "no-such-task": (
        "a task that an option names is not in the data",
        "The option must contain the exact name of the task in the data. A task that --exclude-task"
        " or --only-task names must be in the new run, its baseline or its history.",
        "Choose names that `passk tasks` lists.",
    ),
    "missing-cost": (
        "the cost of an attempt is not known",
        "Harnesses often write no cost after a timeout or a crash. passk never counts a missing"
        " cost as 0, because attempts without a cost may be the most expensive. passk treats"
        " missing tokens, durations and turns in the same way.",
        "Use --missing-cost drop to leave out only the cost of the attempt. Use --missing-cost mean"
        " to replace the missing cost with the mean cost of the other attempts at the task. Use"
        " --missing-cost bounds to get ranges.",
    ),
    "bad-price": (
        "prices of tokens cannot be read",
        "--price reads a TOML file with one table per model or pattern. Each table has the keys"
        " input, output and optionally cached, with prices in dollars per million tokens.",
        "Correct the line or table that the message names.",
    ),
    "no-price": (
        "a model has no price",
        "The file that --price names must contain prices for every model in the data, but one of"
        " the models has no table.",
        "Add a table for the model. In `passk plan`, you can use --cost-per-attempt instead.",
    ),
    "missing-name": (
        "an attempt has no task or no model",
        "passk counts attempts per model and task, so each attempt needs the name of a model and"
        " the name of a task.",
        "Correct the record, or leave the record out with --skip-bad or --where.",
    ),
    "missing-value": (
        "a value that a metric needs is missing or malformed",
        "A score is not a number, or an answer or solution is missing. The message names the first"
        " attempt with a missing or malformed value.",
        "Correct the value, or leave the attempt out with --where.",
    ),
    "bad-counts": (
        "the values of n and c cannot be counts of attempts",
        "n is the number of attempts, and c is the number of passes. Both must be whole numbers"
        " with 0 ≤ c ≤ n.",
        "Correct the counts, or name other columns with --field n=COLUMN --field c=COLUMN.",
    ),
    "bad-rate": (
        "a success rate is not a probability",
        "A table of exact success rates contains one probability from 0 to 1 for each task and"
        " family.",
        "Correct the rate.",
    ),
    "duplicate-attempts": (
        "an attempt is recorded more than once",
        "Two rows have the same model, task and attempt number. If passk counted both rows, the"
        " intervals would be too narrow.",
        "Choose --duplicates first or --duplicates last. If the rows are different attempts, use"
        " --duplicates keep.",
    ),
    "duplicate-files": (
        "two files contain the same results",
        "If passk read both files, every attempt would be counted twice.",
        "Name only one of the files. If the files are separate runs, number their attempts, or use"
        " --duplicates keep.",
    ),
    "duplicate-models": (
        "two models have the same outcomes at all tasks",
        "The two models have the same number of passes and failures at every task, which is"
        " unlikely for two different models. Both names probably belong to the same model, so every"
        " difference between them is 0.",
        "Leave one of the models out with --exclude-model. If two strong models really fail the"
        " same few tasks, for example because the tasks are hard or wrong, name both models with"
        " --model.",
    ),
    "pooled-models": (
        "several models would be pooled as one",
        "An unused column splits the attempts at each task evenly, so it probably contains models"
        " or settings. It is also possible that several models have the same label.",
        "Separate the models with --field model=COLUMN or --by COLUMN.",
    ),
    "no-attempts": (
        "the data contains no records of single attempts",
        "--where excludes all rows, or the file contains counts or averages, but this command needs"
        " one record per attempt.",
        "Correct --where, or name a file with one record per attempt.",
    ),
    "unordered-attempts": (
        "the order of attempts is not known",
        "first@k and `passk order` need the order of the attempts at each task.",
        "Name a column that contains numbers or times with --field attempt=COLUMN. `passk order"
        " --order-from-lines` uses the order of the lines.",
    ),
    "bad-cluster": (
        "a task belongs to several clusters or to none",
        "--cluster names a column with groups of related tasks. Every task must belong to exactly"
        " one cluster.",
        "Correct the column, or name another column.",
    ),
    "two-values": (
        "a task has two lengths, or a model has two release dates",
        "`passk horizon` needs one length per task (--field minutes=COLUMN) and one release date"
        " per model (--field date=COLUMN). The duration of an attempt is not the length of the"
        " task.",
        "Check that you named the right column, or correct the data.",
    ),
    "no-labels": (
        "a command needs labels, or a command cannot use labels",
        "A label records whether an attempt truly passes. `passk judge` and corrected numbers need"
        " labels. Commands and metrics that use only verdicts do not accept labels.",
        "Use --field truth=COLUMN to name a column or an outcome with labels, or --truth to name a"
        " file of labels. If the command does not accept labels, leave the option out.",
    ),
    "missing-labels": (
        "too few attempts are labelled",
        "To correct the numbers of a model, passk needs labels for some attempts that the judge"
        " passes, and for some attempts that the judge fails.",
        "`passk judge --list FILE` writes a list of attempts to label.",
    ),
    "unmatched-labels": (
        "a label belongs to no attempt, or to several attempts",
        "passk joins a file of labels to the attempts by model, task and attempt number.",
        "Number the attempts in both files, or use the same column names in both files.",
    ),
    "no-temperature": (
        "a temperature is missing or is not a number",
        "The column of temperatures must contain numbers of at least 0.",
        "Correct the value, or leave its rows out with --where.",
    ),
    "wrong-data": (
        "Python data of this type cannot be read",
        "passk reads paths, a list of dicts, a dict of lists, a DataFrame, an Arrow table, and the"
        " result of `passk_cli.read`.",
        "Convert your data to one of these types.",
    ),
    "not-on-spark": (
        "an option or file format does not work with Spark",
        "With --engine spark, a Spark cluster counts attempts and passes. passk supports Spark only"
        " for JSON lines, CSV and Parquet files that a map describes.",
        "Leave --engine spark out, or follow the advice in the message.",
    ),
    "spark-failed": (
        "Spark ended with an error",
        "The Spark cluster could not read a file, or passk could not reach the cluster. The message"
        " contains the error of Spark.",
        "Solve the problem that the message names, and try again.",
    ),
    "unusable-data": (
        "the data cannot be used as it is",
        "The message names the file and line of the problem, and what passk expected.",
        "Follow the advice in the message.",
    ),
    "internal": (
        "a defect of passk",
        "This error is a bug in passk, not a mistake in your data or options.",
        "Please report the bug with the command line and the traceback that PASSK_DEBUG=1 shows.",
    ),
}  # fmt: skip

ERRORS = {
    name: DiagnosticType(name, ERROR, template, meaning=meaning, advice=advice)
    for name, (template, meaning, advice) in _EXPLANATIONS_BY_ERROR_NAME.items()
}
