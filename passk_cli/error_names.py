"""Names of errors: each family of errors declared once, with its meaning and what to do.

An error carries the name of its family as text, so that raising one imports nothing:
`DataError(place, problem, remedy, name="no-such-file")`.
"""

from passk_cli.diagnostic import ERROR, DiagnosticType

# Name → what is wrong, up to the first full stop, and what that means.  What the caller asked for
# comes first, then what files hold.
_FAMILIES = {
    "usage": "the command line is not understood. An option that the command does not have, an"
    " option without its value, or an argument too many or too few. `passk COMMAND --help` lists"
    " the options of a command; `passk help COMMAND` explains every one of them.",
    "bad-option-value": "an option has a value that it does not take. The value is outside the"
    " range of the option, not one of its choices, or not written as the option needs it. The"
    " message names the option and what it takes.",
    "contradicting-options": "options exclude each other, or one needs another. Two options ask for"
    " different things, or an option only means something together with another one. Leave out the"
    " option that the message names, or add the one that it needs.",
    "no-files": "no files are given. The command reads result files. Name files, folders, globs or"
    " URLs, label them with label=path, or give - to read standard input.",
    "bad-rules": "a file of rules is not as it should be. The file is TOML: options for all suites,"
    " then a [[suite]] for each, with a name, runs and rules under the names of the options of"
    " `passk gate`. The message has the line. `passk gate --rules FILE --check` checks the file"
    " without data.",
    "untrusted-rules": "a file of rules names a file that it may not name. Rules name files in"
    " their own folder and below it. An address, an absolute path, and a path or a link that leads"
    " out of the folder need --trust-rules (in Python trust_rules=True): a file of rules may come"
    " with a change that somebody else proposes. Nothing was opened or fetched. Move the file below"
    " the folder of the rules, or use --trust-rules if you know who wrote the rules.",
    "bad-map": "a map is not as it should be. The file is TOML: a table [data], or several"
    " [[data]], with the roles and the options of reading as keys. The message names the line."
    " `passk describe FILE --init passk.toml` writes a map, and --map none reads without one.",
    "open-role": "a map does not say yet which column plays a role. `passk describe FILE --init`"
    " leaves open what is not certain, and lists the candidates below the line. Write one of them"
    " in its place. Nothing is counted before.",
    "unknown-name": "no command or message has this name. `passk --help` lists commands; `passk"
    " help messages` lists messages and errors.",
    "unknown-metric": "a metric does not exist or is not for this command. A metric is written as"
    " pass@10, pass^4, gpass@8:0.5, best@k or mean; the message lists those that are possible. Some"
    " commands take metrics of passes and failures only.",
    "invalid-method": "an interval, test or adjustment is not valid for this question. Each"
    " interval and each test answers a question about new tasks or about these tasks, and for some"
    " metrics only. passk refuses a combination that has no valid answer. Leave the option out: the"
    " default is valid wherever there is an answer.",
    "no-bounds": "bounds of missing outcomes have no answer here. With --missing bounds every"
    " number is a range: missing outcomes are tried as all failing and as all passing. That holds"
    " for metrics that rise with every pass, such as pass@k and pass^k. For other metrics and"
    " results the extremes may lie between the two. Use --missing fail or --missing drop.",
    "too-large": "the computation is too large. It would take too long or need too much memory. The"
    " message names the limit and what to make smaller: k, --resamples or the number of models.",
    "no-such-model": "no model has this name. The name or pattern given with --model,"
    " --exclude-model, --baseline or --against is that of no model in the data. The message names"
    " what is near, or the models; `passk describe FILE` lists them.",
    "run-lacks-attempts": "a run lacks tasks or attempts that the last complete run of its suite"
    " has. A part of the run was probably lost: a shard that crashed, or attempts that timed out."
    " Run them again, or record the run with `--incomplete`: it stays in the history, and no"
    " baseline uses it. If the benchmark was changed on purpose, `--suite NAME` starts another.",
    "no-history-yet": "a history does not exist yet, or it has no run of this suite. A lost history"
    " and a first night look the same, so neither passes by itself. Restore the history if it was"
    " lost (an artifact or a branch keeps it, a cache may not). On a first night use `passk gate"
    " --first-run`, once: rules about changes are not judged then.",
    "no-such-suite": "a history, or a file of rules, has no suite of this name. `--baseline"
    " history.parquet:SUITE:last5` compares with the runs of one suite, which `passk record"
    " --suite` named. `passk watch --rules FILE --suite NAME` watches one suite of the file.",
    "no-order": "no order of the tasks is known. A look at a run counts the first tasks of an order"
    " that was drawn before. Name it with `--order FILE`, a task a line. Logs of Inspect that were"
    " shuffled have it. `--order completion` takes tasks as they were completed.",
    "other-plan": "a run, or a file of looks, does not fit the plan. Looks keep their level if the"
    " plan was named before the first: tasks, attempts, the distance of looks, rules, baseline and"
    " order. To change it, start with another run and another file of looks.",
    "unplanned-attempts": "tasks have other numbers of attempts than planned. Attempts that"
    " are lost are often failures, and the rate of what is left is too high. Complete the run, or"
    " leave these tasks out with --short-tasks drop, which names them.",
    "other-run": "tasks that were counted by an earlier look are not there, or have other outcomes."
    " A look counts tasks that are complete. Where such a task changes or disappears, earlier looks"
    " were about something else. Name the run that the file of looks is about, or another file with"
    " `--looks`.",
    "bad-looks": "a file holds no looks. `passk watch` keeps its looks in a JSON file beside the"
    " run, or where `--looks` says. Another file stands there.",
    "no-such-column": "the data has no column of this name. The message names what is near, or the"
    " columns. A key inside another one is written as outer.inner. `passk describe FILE` shows how"
    " a file is read.",
    "bad-condition": "a condition is not understood. A condition compares columns with values, as"
    " in --where \"temperature < 0.5 AND split = 'test'\". Texts stand in single quotes.",
    "reserved-column": "a column of the data has the name of a column of the output. The output"
    " would have two columns of one name. Rename the column in the data.",
    "bad-path": "a pattern of paths does not fit a file. --path reads columns from the paths of"
    " files: '{model}/{task}/run-{attempt}.json'. Every file with results has to fit, in one way"
    " only; * stands for any text, **/ for folders.",
    "too-few-attempts": "k is larger than the number of attempts. pass@k and pass^k are estimated"
    " from at least k attempts per task; no task has so many. Choose a smaller k, make more"
    " attempts, or use `passk extrapolate`, which predicts pass@k beyond the measured k.",
    "nothing-to-compare": "there are no two models with shared tasks. A comparison needs two"
    " models, or a model and a baseline, that have tasks in common. Give more files, name the runs"
    " with label=path, or look with `passk describe` at how models and tasks are read.",
    "different-tasks": "two models have different tasks. A paired comparison uses the tasks that"
    " both models have. --unpaired drop leaves the others out, which answers a question about the"
    " shared tasks only.",
    "no-pilot": "a plan has nothing to start from. `passk plan` needs the results of a pilot, or"
    " --mean and --spread of the success rates.",
    "no-rule": "a gate has no rule to check. Give at least one rule: --max-drop METRIC=X, --min"
    " METRIC=X, --no-regression or --must-pass.",
    "no-chart": "there is nothing to draw. No number of the result could be computed, so a chart"
    " would be empty. The messages of the same command without --chart say why.",
    "bad-output": "an output cannot be where or what it is asked to be. The folder does not exist,"
    " the suffix belongs to no format, two outputs have one name, or an output would overwrite a"
    " file that is read. Nothing was read or written.",
    "no-history": "a file holds no history of runs. `passk trend` and `passk record --to FILE` need"
    " what `passk record` writes: a row per run and task, with the columns run, at, revision,"
    " suite, model, task, n, c and settings.",
    "recorded-run": "a run is in the history already. A run is recorded once for each suite and"
    " model; its name is its revision unless --run says another one. A history only grows: nothing"
    " was written.",
    "other-groups": "a history is split by other columns than the run to be recorded. Every run of"
    " a history is recorded with the same --by. Nothing was written.",
    "unwritable-output": "a file or stream cannot be written. The system refuses to write: no"
    " permission, no space, or a folder that is in use. Outputs are whole or not there; nothing"
    " half-written is left.",
    "no-room": "there is too little room for temporary files. What comes through a pipe or over the"
    " network is stored while it is read. Set TMPDIR to a folder with more room, or give a local"
    " file.",
    "out-of-memory": "there is not enough memory. Read fewer columns or models at once (--model,"
    " --where), convert the files with `passk convert --counts` first, or use a machine with more"
    " memory.",
    "missing-package": "a package that this option needs is not installed. Reading from cloud"
    " storage and on Spark needs further packages; the message has the command that installs them.",
    "no-such-file": "a file does not exist. No file has this path, or no file matches this pattern."
    " Check the spelling and the folder; quote a pattern so that the shell does not change it.",
    "unreadable-file": "a file cannot be read. It has no read permission, is a device, or changed"
    " or vanished while it was read.",
    "damaged-file": "a file is cut off or damaged. A compressed file, an archive or a Parquet file"
    " is incomplete. Copy it again; look whether the run that wrote it ended.",
    "suspicious-archive": "an archive would unpack to far more than it should. The members overlap"
    " or unpack to an absurd size, as those of a malicious archive do. Unpack it yourself if you"
    " trust it, and give the files.",
    "not-fetched": "a file on another machine cannot be fetched. The server does not answer,"
    " refuses access, ends early, or sends something that is no file. Try again, check the address"
    " and the credentials, or fetch the file yourself.",
    "changed-file": "a file changed while it was read. Counts from a file that is still written"
    " would be neither the old nor the new ones. Read it again when the run has ended.",
    "no-results": "a file or folder holds no results. It is empty, or has no records of attempts."
    " In a folder such files are passed over; one that is named on the command line is an error."
    " Look whether the run wrote its results.",
    "unknown-format": "the format of a file is not recognised. passk reads JSONL, JSON, CSV, TSV,"
    " Parquet, and the formats that `passk formats` lists. --from names the format where it cannot"
    " be recognised.",
    "ambiguous-records": "records stand in several places of a document. A JSON document has"
    " several lists that could be the attempts, or an outcome of its own and records with outcomes,"
    " which it may sum up. --records KEY chooses a list, --records . the document itself.",
    "bad-record": "a line or record is malformed. It is no JSON, is too large, has another number"
    " of fields than the header, or has a key twice. The place says file and line. Correct it, or"
    " leave such lines out with --skip-bad, which reports how many they were.",
    "bad-encoding": "a text is not UTF-8. Save the file as UTF-8; for example `iconv -f latin1 -t"
    " utf-8`.",
    "no-task-column": "no column is recognised as the task. Every attempt belongs to a task. Name"
    " the column with --field task=COLUMN; the message lists the columns.",
    "no-outcome-column": "no column is recognised as the outcome. The outcome says whether an"
    " attempt passed. Name the column with --field outcome=COLUMN, and with --threshold X what"
    " passes where it is a score.",
    "preferences": "a table contains preferences, not outcomes. Its rows say which of two answers"
    " is better. passk counts attempts of one model each at a task, which pass or fail: write a row"
    " for each answer, with its outcome.",
    "summary": "a table sums up attempts. Its columns are averages, such as success_rate or"
    " pass@5, and a threshold of an average means nothing. Give the file with the attempts, or"
    " their numbers with --field n=COLUMN --field c=COLUMN.",
    "no-model-column": "the column called model holds objects. An object is no name of a model."
    " Name the key in it that is, with --field model=model.KEY, or another column.",
    "no-role-column": "no column holds what a metric or a command needs of each attempt. maj@k"
    " needs answers, passk cost needs costs, passk order the number or the time of an attempt. Name"
    " the column with --field ROLE=COLUMN; `passk describe FILE` lists them.",
    "ambiguous-column": "several columns could play one role. Choose one with --field ROLE=COLUMN."
    " passk does not guess between columns, because the numbers would depend on it.",
    "no-such-outcome": "a file does not have this outcome. The run was not scored, or by another"
    " scorer than --outcome names. The message lists the outcomes that are there.",
    "several-outcomes": "a file has several outcomes. Several scorers judged the attempts. Choose"
    " one with --outcome NAME.",
    "bad-outcome": "an outcome is neither pass nor fail. An outcome is true or false, 1 or 0, pass"
    " or fail. A score becomes one with --threshold X; best@k and mean use scores as they are.",
    "unmatched-words": "no outcome has a word that is named as passing or failing. Then every"
    " outcome would fail, or none, whatever it means. The message lists the outcomes of the files"
    " and how often they occur. Name some of them.",
    "unjudged-numbers": "outcomes are numbers beside the words that pass. Beside the words of"
    " --passes numbers pass or fail by --threshold X.",
    "missing-outcome": "an attempt has no outcome. A timeout or a crash is not the same as a"
    " failure, and how it is counted changes every number. Choose: --missing fail, --missing drop,"
    " or --missing bounds, which tries both.",
    "no-such-task": "a task that is named is not in the data. Names of tasks are compared letter by"
    " letter with those in the data, which `passk tasks` lists. Of --exclude-task and --only-task"
    " every one must be in the new run, its baseline or its history.",
    "missing-cost": "it is not known what an attempt cost. A harness often writes no cost after a"
    " timeout or a crash, so those attempts may be the dearest, and a missing cost is never 0."
    " Choose: --missing-cost drop leaves a gap in the costs alone; mean takes that of the task's"
    " other attempts; bounds gives ranges. It is the same for tokens, durations and turns.",
    "bad-price": "prices of tokens cannot be read. --price takes a TOML file with a table for each"
    " model or pattern: input and output, and cached if it has a price of its own, in dollars per"
    " million tokens.",
    "no-price": "a model has no price. --price computes the cost of every model, and this one has"
    " no table in the file. Without a price its cost would be 0. A plan of dollars needs a cost of"
    " the attempts of its model: --cost-per-attempt gives one.",
    "missing-name": "an attempt has no task or no model. Without it the attempt cannot be counted."
    " Correct the record, or leave it out with --skip-bad or --where.",
    "missing-value": "a value that a metric needs is missing or malformed. A score is no number, or"
    " an answer or solution is missing. The place names the first attempt concerned.",
    "bad-counts": "n and c cannot be counts of attempts. n is the number of attempts and c the"
    " number of passes: whole numbers, 0 ≤ c ≤ n.",
    "bad-rate": "a success rate is no probability. A table of exact success rates has one"
    " probability from 0 to 1 per task and family.",
    "duplicate-attempts": "an attempt is recorded more than once. Model, task and attempt number"
    " occur twice. Counting both would make the intervals too narrow. Choose: --duplicates first,"
    " last, or keep where they are attempts of their own.",
    "duplicate-files": "two files hold the same results. Counting both would count every attempt"
    " twice. Name one of them; if both are runs of their own, number the attempts or keep both with"
    " --duplicates keep.",
    "duplicate-models": "two models have the same outcomes at all tasks. Each passed and failed the"
    " same number of attempts at every task, which two runs hardly do: one is probably the other,"
    " read from another file. Their difference is 0 whatever is computed. Leave one out with"
    " --exclude-model. Two strong models may fail the same few tasks because these are hard, or"
    " wrong: name both with --model to compare them.",
    "pooled-models": "several models would be pooled as one. A column that is not used splits the"
    " attempts of each task evenly, as a model or a setting does, or one label is given to several"
    " models. Keep them apart with --field model=COLUMN or --by COLUMN.",
    "no-attempts": "the data has no single attempts. --where leaves nothing, or the file holds"
    " counts or averages where this question needs a record of each attempt.",
    "unordered-attempts": "the order of attempts is not known. first@k and `passk order` need to"
    " know which attempt came first. Name a column of numbers or times with --field attempt=COLUMN,"
    " or take the order of lines with --order-from-lines of `passk order`.",
    "bad-cluster": "a cluster does not hold whole tasks. --cluster names a column that says which"
    " tasks belong together. Every task needs exactly one cluster.",
    "two-values": "a task has two lengths, or a model has two release dates. `passk horizon` needs"
    " one length for each task (--field minutes=COLUMN) and one release date for each model"
    " (--field date=COLUMN). A column of what attempts took is not the length of a task. Check that"
    " the column is the right one, or correct the data.",
    "no-labels": "a question that labels do not answer, or that has none. Labels say of some"
    " attempts whether they truly pass: a column or another outcome by --field truth=COLUMN, or a"
    " file by --truth. `passk judge` and corrected numbers need them; commands and metrics that"
    " look at verdicts alone take none.",
    "missing-labels": "too few attempts are labelled. Corrected numbers of a model need labels of"
    " its own attempts, some that the judge passes and some that it fails. `passk judge --list"
    " FILE` writes attempts to label.",
    "unmatched-labels": "a label is of no attempt, or of several. A file of labels is joined by"
    " model, task and attempt. Number the attempts in both, or name the columns alike.",
    "no-temperature": "a temperature is missing or no number. The column of temperatures holds"
    " numbers from 0 up. Correct what is none, or leave its rows out.",
    "wrong-data": "Python data of this type cannot be read. Give paths, a list of dicts, a dict of"
    " lists, a DataFrame, an Arrow table, or what `passk_cli.read` returned.",
    "not-on-spark": "Spark cannot do this. With --engine spark a cluster counts attempts and"
    " passes of JSON lines, CSV and Parquet as a map says. Leave --engine spark out, or do what the"
    " message says.",
    "spark-failed": "Spark ended with an error. The cluster could not read a file or was not"
    " reached. The message has its reason.",
    "unusable-data": "the data cannot be used as it is. The message says where, what was expected,"
    " and what to do.",
    "internal": "a defect of passk. Please report it with the command line and the traceback that"
    " PASSK_DEBUG=1 shows.",
}

ERRORS = {
    name: DiagnosticType(name, ERROR, template, meaning=meaning)
    for name, text in _FAMILIES.items()
    for template, _, meaning in [text.partition(". ")]
}
