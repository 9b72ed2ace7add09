"""Names of errors: each family of errors declared once, with its meaning and what to do.

An error carries the name of its family as text, so that raising one imports nothing:
`DataError(place, problem, remedy, name="no-such-file")`.
"""

from passk_cli.diagnostic import ERROR, DiagnosticType

# Name → what is wrong, what that means, and what to do.  Errors of requests come first, then errors
# of files.
_FAMILIES = {
    "usage": (
        "the command line is not understood",
        "The command does not have such an option, an option has no value, or there are too many"
        " or too few arguments.",
        "`passk COMMAND --help` lists the options of a command, and `passk help COMMAND` explains"
        " all of them.",
    ),
    "bad-option-value": (
        "an option has a value that it does not accept",
        "The value is out of range, is not one of the choices, or is not written in the form that"
        " the option needs.",
        "Correct the value. The message names the option and what it accepts.",
    ),
    "contradicting-options": (
        "options exclude each other, or one needs another",
        "Two options ask for different things, or an option has no effect without another one.",
        "Leave out the option that the message names, or add the one that it needs.",
    ),
    "no-files": (
        "no files are given",
        "The command reads result files, and none were named.",
        "Name files, folders, globs or URLs. You can label them with label=path, and - reads"
        " standard input.",
    ),
    "bad-rules": (
        "a file of rules has a mistake",
        "The file is TOML. Options for all suites come first, then a [[suite]] for each suite,"
        " with a name, runs and rules. Rules have the names of the options of `passk gate`.",
        "Correct the line that the message names. `passk gate --rules FILE --check` checks the"
        " file without data.",
    ),
    "untrusted-rules": (
        "a file of rules names a file that it may not name",
        "Rules name files in their own folder and below it. An address, an absolute path, and a"
        " path or a link that leads out of the folder need --trust-rules (in Python"
        " trust_rules=True), because a file of rules may come with a change that somebody else"
        " proposes. Nothing was opened or fetched.",
        "Move the file below the folder of the rules, or use --trust-rules if you know who wrote"
        " the rules.",
    ),
    "bad-map": (
        "a map has a mistake",
        "A map is a TOML file with a table [data], or several tables [[data]]. Its keys are the"
        " roles and the options of reading.",
        "Correct the line that the message names. `passk describe FILE --init passk.toml` writes a"
        " map, and --map none reads without one.",
    ),
    "open-role": (
        "a map does not name a column for a role yet",
        "`passk describe FILE --init` leaves a role open if it is not certain, and lists the"
        " candidates below the line. passk counts nothing before you choose.",
        "Write one of the candidates in its place.",
    ),
    "unknown-name": (
        "no command or message has this name",
        "`passk help` knows commands, messages, options, metrics, columns and terms.",
        "`passk --help` lists the commands, and `passk help messages` lists the messages and"
        " errors.",
    ),
    "unknown-metric": (
        "a metric does not exist or is not for this command",
        "You write a metric as pass@10, pass^4, gpass@8:0.5, best@k or mean. Some commands accept"
        " only metrics of passes and failures.",
        "Choose one of the metrics that the message lists.",
    ),
    "invalid-method": (
        "an interval, test or adjustment is not valid for this question",
        "Each interval and each test answers a question about new tasks or about these tasks, and"
        " only for some metrics. passk refuses a combination that has no valid answer.",
        "Leave the option out. The default is valid whenever there is an answer.",
    ),
    "no-bounds": (
        "there is no answer with bounds of missing outcomes",
        "With --missing bounds every number is a range, because passk tries missing outcomes as"
        " all failing and as all passing. That works for metrics that rise with every pass, such"
        " as pass@k and pass^k. For other metrics and results, the extremes may be between the"
        " two.",
        "Use --missing fail or --missing drop.",
    ),
    "too-large": (
        "the computation is too large",
        "It would take too long or need too much memory. The message names the limit.",
        "Make smaller what the message names, for example k, --resamples or the number of models.",
    ),
    "no-such-model": (
        "no model has this name",
        "No model in the data has the name or pattern given with --model, --exclude-model,"
        " --baseline or --against.",
        "Choose a name that the message lists. `passk describe FILE` lists all models.",
    ),
    "run-lacks-attempts": (
        "a run lacks tasks or attempts that the last complete run of its suite has",
        "A part of the run was probably lost, for example because a shard crashed or attempts"
        " timed out.",
        "Make the missing attempts, or record the run with `--incomplete`. It stays in the history"
        " then, and no baseline uses it. If the benchmark was changed on purpose, `--suite NAME`"
        " starts another suite.",
    ),
    "no-history-yet": (
        "a history does not exist yet, or it has no run of this suite",
        "A lost history and a first night look the same, so neither passes by itself.",
        "If the history was lost, restore it. An artifact or a branch keeps it, but a cache may"
        " not. On a first night, use `passk gate --first-run` once. Rules about changes are not"
        " judged then.",
    ),
    "no-such-suite": (
        "a history, or a file of rules, has no suite of this name",
        "`passk record --suite` names the suite of a run, and a file of rules names each of its"
        " suites.",
        "`--baseline history.parquet:SUITE:last5` compares with the runs of one suite. `passk"
        " watch --rules FILE --suite NAME` watches one suite of the file.",
    ),
    "no-order": (
        "the order of the tasks is not known",
        "A look at a run counts the first tasks of an order that was drawn before the run.",
        "Name the order with `--order FILE`, one task per line. Logs of Inspect that were shuffled"
        " contain it. `--order completion` uses the order in which tasks were completed.",
    ),
    "other-plan": (
        "a run, or a file of looks, does not fit the plan",
        "Looks keep their significance level only if the plan was fixed before the first look. The"
        " plan consists of tasks, attempts, the distance of looks, rules, baseline and order.",
        "To change the plan, start with another run and another file of looks.",
    ),
    "unplanned-attempts": (
        "tasks have other numbers of attempts than planned",
        "Attempts that are lost are often failures, so the rate of the remaining attempts is too"
        " high.",
        "Complete the run, or leave these tasks out with --short-tasks drop, which names them.",
    ),
    "other-run": (
        "tasks that an earlier look counted are missing or have other outcomes",
        "A look counts tasks that are complete. If such a task changes or disappears, the earlier"
        " looks were about another run.",
        "Name the run that the file of looks is about, or another file with `--looks`.",
    ),
    "bad-looks": (
        "a file does not contain looks",
        "`passk watch` keeps its looks in a JSON file next to the run, or in the file that"
        " `--looks` names. That file has other contents.",
        "Name another file with `--looks`.",
    ),
    "no-such-column": (
        "the data has no column of this name",
        "The message names similar columns, or all columns. A key inside another key is written as"
        " outer.inner.",
        "Correct the name. `passk describe FILE` shows how a file is read.",
    ),
    "bad-condition": (
        "a condition is not understood",
        "A condition compares columns with values, for example --where \"temperature < 0.5 AND"
        " split = 'test'\".",
        "Correct the condition. Put texts in single quotes.",
    ),
    "reserved-column": (
        "a column of the data has the name of a column of the output",
        "The output would have two columns of one name.",
        "Rename the column in the data.",
    ),
    "bad-path": (
        "a pattern of paths does not fit a file",
        "--path reads columns from the paths of files, for example"
        " '{model}/{task}/run-{attempt}.json'. Every file with results must fit the pattern in"
        " exactly one way.",
        "Correct the pattern. * matches any text, and **/ matches folders.",
    ),
    "too-few-attempts": (
        "k is larger than the number of attempts",
        "pass@k and pass^k are estimated from at least k attempts per task, and no task has that"
        " many.",
        "Choose a smaller k, make more attempts, or use `passk extrapolate`, which predicts pass@k"
        " beyond the measured k.",
    ),
    "nothing-to-compare": (
        "there are no two models with shared tasks",
        "A comparison needs two models, or a model and a baseline, that have tasks in common.",
        "Give more files, or name the runs with label=path. `passk describe` shows how models and"
        " tasks are read.",
    ),
    "different-tasks": (
        "two models have different tasks",
        "A paired comparison uses the tasks that both models have.",
        "--unpaired drop leaves the other tasks out, which answers a question about the shared"
        " tasks only.",
    ),
    "no-pilot": (
        "a plan has nothing to start from",
        "`passk plan` needs to know how success rates vary between tasks.",
        "Give the results of a pilot, or --mean and --spread of the success rates.",
    ),
    "no-rule": (
        "a gate has no rule to check",
        "A gate passes or fails by its rules.",
        "Give at least one rule: --max-drop METRIC=X, --min METRIC=X, --no-regression or"
        " --must-pass.",
    ),
    "no-chart": (
        "there is nothing to draw",
        "No number of the result could be computed, so a chart would be empty.",
        "Run the same command without --chart. Its messages explain why.",
    ),
    "bad-output": (
        "an output cannot be written as requested",
        "The folder does not exist, no format has the suffix, two outputs have the same name, or"
        " an output would overwrite a file that is read. Nothing was read or written.",
        "Correct the name of the output, or the option that the message names.",
    ),
    "no-history": (
        "a file does not contain a history of runs",
        "`passk trend` and `passk record --to FILE` need a file that `passk record` wrote. It has"
        " one row per run and task, with the columns run, at, revision, suite, model, task, n, c"
        " and settings.",
        "Name such a file, or record runs with `passk record`.",
    ),
    "recorded-run": (
        "a run is in the history already",
        "A run is recorded once for each suite and model. Its name is its revision unless --run"
        " gives another name. A history only grows, so nothing was written.",
        "If it is another run, name it with --run.",
    ),
    "other-groups": (
        "a history is split by other columns than the run to be recorded",
        "Every run of a history is recorded with the same --by. Nothing was written.",
        "Use the --by of the history.",
    ),
    "unwritable-output": (
        "a file or stream cannot be written",
        "The system refuses to write, because there is no permission or no space, or because a"
        " folder is in use. Outputs are written completely or not at all.",
        "Correct what the message names, or choose another place.",
    ),
    "no-room": (
        "there is too little room for temporary files",
        "Data that comes through a pipe or over the network is stored while it is read.",
        "Set TMPDIR to a folder with more room, or give a local file.",
    ),
    "out-of-memory": (
        "there is not enough memory",
        "The data or the computation does not fit into the memory of this machine.",
        "Read fewer columns or models at once (--model, --where), convert the files with `passk"
        " convert --counts` first, or use a machine with more memory.",
    ),
    "missing-package": (
        "a package that this option needs is not installed",
        "Reading from cloud storage and on Spark needs further packages.",
        "Run the command in the message, which installs them.",
    ),
    "no-such-file": (
        "a file does not exist",
        "No file has this path, or no file matches this pattern.",
        "Check the spelling and the folder. Quote a pattern so that the shell does not change it.",
    ),
    "unreadable-file": (
        "a file cannot be read",
        "You have no permission to read it, it is a device, or it changed or vanished while it was"
        " read.",
        "Check the permissions of the file, and that no run is still writing it.",
    ),
    "damaged-file": (
        "a file is cut off or damaged",
        "A compressed file, an archive or a Parquet file is incomplete.",
        "Copy it again. Check that the run that wrote it has ended.",
    ),
    "suspicious-archive": (
        "an archive would unpack to far more than it should",
        "The members overlap, or unpack to an absurd size, as those of a malicious archive do.",
        "If you trust the archive, unpack it yourself and give the files.",
    ),
    "not-fetched": (
        "a file on another machine cannot be fetched",
        "The server does not answer, refuses access, ends early, or sends something that is not a"
        " file.",
        "Try again, check the address and the credentials, or fetch the file yourself.",
    ),
    "changed-file": (
        "a file changed while it was read",
        "Counts from a file that is still being written would be neither the old nor the new"
        " counts.",
        "Read it again when the run has ended.",
    ),
    "no-results": (
        "a file or folder contains no results",
        "It is empty, or has no records of attempts. passk passes over such files in a folder. A"
        " file that you name is an error.",
        "Check that the run wrote its results.",
    ),
    "unknown-format": (
        "the format of a file is not recognised",
        "passk reads JSONL, JSON, CSV, TSV, Parquet, and the formats that `passk formats` lists.",
        "Name the format with --from.",
    ),
    "ambiguous-records": (
        "records are in several places of a document",
        "A JSON document has several lists that could be the attempts, or it has an outcome of its"
        " own and also records with outcomes, which it may summarise.",
        "--records KEY chooses a list, and --records . chooses the document itself.",
    ),
    "bad-record": (
        "a line or record is malformed",
        "It is not JSON, is too large, has another number of fields than the header, or has a key"
        " twice. The message names the file and the line.",
        "Correct it, or leave such lines out with --skip-bad, which reports how many there are.",
    ),
    "bad-encoding": (
        "a text is not UTF-8",
        "passk reads texts in UTF-8 only.",
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
        "Name the column with --field outcome=COLUMN. If it is a score, --threshold X sets from"
        " which score an attempt passes.",
    ),
    "preferences": (
        "a table contains preferences, not outcomes",
        "Each row names the better of two answers. passk counts attempts of one model at a task,"
        " which pass or fail.",
        "Write one row per answer, with its outcome.",
    ),
    "summary": (
        "a table summarises attempts",
        "Its columns are averages, such as success_rate or pass@5. A threshold for an average has"
        " no meaning.",
        "Give the file with the attempts, or their numbers with --field n=COLUMN --field c=COLUMN.",
    ),
    "no-model-column": (
        "the column named model contains objects",
        "An object is not the name of a model.",
        "Name the key that is, with --field model=model.KEY, or another column.",
    ),
    "no-role-column": (
        "no column contains a value that a metric or a command needs for each attempt",
        "For example, maj@k needs answers, passk cost needs costs, and passk order needs the"
        " number or the time of an attempt.",
        "Name the column with --field ROLE=COLUMN. `passk describe FILE` lists the columns.",
    ),
    "ambiguous-column": (
        "several columns could have the same role",
        "passk does not guess between columns, because the numbers would depend on it.",
        "Choose one with --field ROLE=COLUMN.",
    ),
    "no-such-outcome": (
        "a file does not have this outcome",
        "The run was not scored, or was scored by another scorer than --outcome names.",
        "Choose one of the outcomes that the message lists.",
    ),
    "several-outcomes": (
        "a file has several outcomes",
        "Several scorers judged the attempts.",
        "Choose one with --outcome NAME.",
    ),
    "bad-outcome": (
        "an outcome is neither pass nor fail",
        "An outcome is true or false, 1 or 0, pass or fail.",
        "If it is a score, --threshold X turns it into an outcome. best@k and mean use scores as"
        " they are.",
    ),
    "unmatched-words": (
        "no outcome has a word that is named as passing or failing",
        "All outcomes would fail, or none, whatever they mean. The message lists the outcomes of"
        " the files and how often they occur.",
        "Name some of these outcomes.",
    ),
    "unjudged-numbers": (
        "outcomes are numbers in addition to words that pass",
        "With --passes, words pass by their name, but numbers need a threshold.",
        "Add --threshold X, so that numbers from X up pass.",
    ),
    "missing-outcome": (
        "an attempt has no outcome",
        "A timeout or a crash is not the same as a failure, and how it is counted changes every"
        " number.",
        "Choose --missing fail, --missing drop, or --missing bounds, which tries both.",
    ),
    "no-such-task": (
        "a task that an option names is not in the data",
        "Names of tasks must be exactly those in the data. A task of --exclude-task or --only-task"
        " must be in the new run, its baseline or its history.",
        "Choose names that `passk tasks` lists.",
    ),
    "missing-cost": (
        "the cost of an attempt is not known",
        "Harnesses often write no cost after a timeout or a crash. These attempts may be the most"
        " expensive ones, and a missing cost is never 0. The same is true of tokens, durations and"
        " turns.",
        "--missing-cost drop leaves only the cost out, mean uses the mean of the task's other"
        " attempts, and bounds gives ranges.",
    ),
    "bad-price": (
        "prices of tokens cannot be read",
        "--price reads a TOML file with a table for each model or pattern. A table contains input"
        " and output, and cached if cached tokens have a price of their own, in dollars per"
        " million tokens.",
        "Correct what the message names.",
    ),
    "no-price": (
        "a model has no price",
        "--price computes the cost of every model, and the file has no table for this model."
        " Without a price its cost would be 0.",
        "Add a table for the model. For a plan in dollars, --cost-per-attempt gives the cost of an"
        " attempt.",
    ),
    "missing-name": (
        "an attempt has no task or no model",
        "Such an attempt cannot be counted.",
        "Correct the record, or leave it out with --skip-bad or --where.",
    ),
    "missing-value": (
        "a value that a metric needs is missing or malformed",
        "A score is not a number, or an answer or solution is missing. The message names the first"
        " such attempt.",
        "Correct the value, or leave the attempt out with --where.",
    ),
    "bad-counts": (
        "n and c cannot be counts of attempts",
        "n is the number of attempts and c the number of passes. Both are whole numbers, with 0 ≤"
        " c ≤ n.",
        "Correct the counts, or name other columns with --field n=COLUMN --field c=COLUMN.",
    ),
    "bad-rate": (
        "a success rate is not a probability",
        "A table of exact success rates has one probability from 0 to 1 per task and family.",
        "Correct the rate.",
    ),
    "duplicate-attempts": (
        "an attempt is recorded more than once",
        "The same model, task and attempt number occur twice. Counting both would make the"
        " intervals too narrow.",
        "Choose --duplicates first or last. Use --duplicates keep if they are different attempts.",
    ),
    "duplicate-files": (
        "two files contain the same results",
        "Counting both would count every attempt twice.",
        "Name only one of them. If both are separate runs, number the attempts, or keep both with"
        " --duplicates keep.",
    ),
    "duplicate-models": (
        "two models have the same outcomes at all tasks",
        "Both passed and failed the same number of attempts at every task, which is unlikely"
        " for two runs. One is probably the other model, read from another file. Their difference"
        " is 0 whatever is computed.",
        "Leave one out with --exclude-model. Two strong models may fail the same few tasks because"
        " these are hard or wrong. To compare such models, name both with --model.",
    ),
    "pooled-models": (
        "several models would be pooled as one",
        "An unused column splits the attempts of each task evenly, as a model or a setting does,"
        " or several models have the same label.",
        "Keep them apart with --field model=COLUMN or --by COLUMN.",
    ),
    "no-attempts": (
        "the data has no single attempts",
        "No row is left after --where, or the file contains counts or averages, but this question"
        " needs a record of each attempt.",
        "Correct --where, or give the file with the attempts.",
    ),
    "unordered-attempts": (
        "the order of attempts is not known",
        "first@k and `passk order` need to know which attempt came first.",
        "Name a column of numbers or times with --field attempt=COLUMN, or use the order of lines"
        " with `passk order --order-from-lines`.",
    ),
    "bad-cluster": (
        "a cluster does not consist of whole tasks",
        "--cluster names a column of groups of related tasks. Every task needs exactly one"
        " cluster.",
        "Correct the column, or name another one.",
    ),
    "two-values": (
        "a task has two lengths, or a model has two release dates",
        "`passk horizon` needs one length per task (--field minutes=COLUMN) and one release date"
        " per model (--field date=COLUMN). The time that attempts used is not the length of a"
        " task.",
        "Check that the column is the right one, or correct the data.",
    ),
    "no-labels": (
        "labels do not answer this question, or there are none",
        "A label records whether an attempt truly passes. `passk judge` and corrected numbers need"
        " labels. Commands and metrics that use only verdicts accept none.",
        "Give labels as a column or another outcome with --field truth=COLUMN, or as a file with"
        " --truth. If the command accepts none, leave them out.",
    ),
    "missing-labels": (
        "too few attempts are labelled",
        "Corrected numbers of a model need labels of its own attempts, some that the judge passes"
        " and some that it fails.",
        "`passk judge --list FILE` writes attempts to label.",
    ),
    "unmatched-labels": (
        "a label belongs to no attempt, or to several",
        "A file of labels is joined by model, task and attempt.",
        "Number the attempts in both files, or give their columns the same names.",
    ),
    "no-temperature": (
        "a temperature is missing or is not a number",
        "The column of temperatures contains numbers from 0 up.",
        "Correct the value, or leave its rows out.",
    ),
    "wrong-data": (
        "Python data of this type cannot be read",
        "passk reads paths, a list of dicts, a dict of lists, a DataFrame, an Arrow table, and the"
        " result of `passk_cli.read`.",
        "Give the data in one of these forms.",
    ),
    "not-on-spark": (
        "Spark cannot do this",
        "With --engine spark, a cluster counts attempts and passes of JSON lines, CSV and Parquet"
        " as a map describes.",
        "Leave --engine spark out, or follow the message.",
    ),
    "spark-failed": (
        "Spark ended with an error",
        "The cluster could not read a file or was not reached. The message contains its reason.",
        "Correct what the message names, and try again.",
    ),
    "unusable-data": (
        "the data cannot be used as it is",
        "The message names the place, and what was expected there.",
        "Do what the message advises.",
    ),
    "internal": (
        "a defect of passk",
        "Something happened that passk does not expect.",
        "Please report it with the command line and the traceback that PASSK_DEBUG=1 shows.",
    ),
}  # fmt: skip

ERRORS = {
    name: DiagnosticType(name, ERROR, template, meaning=meaning, advice=advice)
    for name, (template, meaning, advice) in _FAMILIES.items()
}
