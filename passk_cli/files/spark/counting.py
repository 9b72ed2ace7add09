"""Counts of attempts and passes that a Spark cluster groups, as a map says.

One aggregation groups equal rows.  What is returned is a row for each different combination of
model, task, groups and outcome, with how often it is there: what an outcome means is decided here,
by the SQL that judges outcomes of files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from passk_cli.errors import BadRecord, DataError, ParameterError
from passk_cli.files.counting.checks import WITHOUT_GROUP
from passk_cli.files.database import ours, quote_name
from passk_cli.files.load import named_outcomes, require_matched
from passk_cli.files.mapping import NO_MAP, Map, read_maps
from passk_cli.files.reading.layout import Layout
from passk_cli.files.request import COUNTED, Request
from passk_cli.files.roles import (
    BELOW,
    MISSING_WORDS,
    REACHED,
    SLACK,
    UNITS,
    VALUE,
    addends,
    parts,
    verdict_sql,
)
from passk_cli.files.sources.source import SKIPPED
from passk_cli.files.spark.frames import BAD, Files, Rows, name, text
from passk_cli.files.spark.session import NotOnSpark, explained, session
from passk_cli.message import Said
from passk_cli.option import changed
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import InputFacts, ReadFacts
from passk_cli.settle import Blank, Given, Settle
from passk_cli.text import plural

# Groups that may be returned.
_MOST_GROUPS = 50_000_000
_ROLES = ("task", "outcome", "model", "attempt", *UNITS)
_OPTIONS = frozenset(
    "--field --map --outcome --all --threshold --passes --fails --missing --by --pool --from"
    " --skip-bad --duplicates".split()
)
# Options that commands apply to counts as well.
_LATER = ("--model", "--exclude-model", "--alias", "--exclude-task", "--only-task")
# A number that Spark and DuckDB read alike; all other texts are judged here.
_PLAIN = r"^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$"


def count(
    addresses: Sequence[str], request: Request, master: str | None
) -> tuple[Counts, dict[str, Any]]:
    """The counts of files that a cluster reads; name → sum of each cell, of amounts in the map.

    request : with a map.  A sum is NaN if an attempt of the cell has no amount.
    master : as of `session`.
    Errors: ParameterError for options that a cluster does not apply, or without a map; DataError.
    """
    own, request = _mapped(request)
    _require_possible(own, request)
    spark = session(master)
    with explained(addresses):
        rows = Rows.of(spark, Files.at(spark, addresses, own, request.format))
        if absent := own.lacking(rows.columns):
            problem = f"it is for files with a column {absent[0]!r}, and there is none"
            raise ParameterError(own.place, problem, "correct its has =", name="bad-map")
        return _Groups(spark, rows, request).counts()


def _mapped(request: Request) -> tuple[Map, Request]:
    """The map's table, and the request with what it says."""
    if request.map in (None, "", NO_MAP):
        raise ParameterError(
            Given("--engine", "spark"), "a cluster needs a map of the columns",
            "passk describe writes one of a file here", name="bad-map",
            settles=[Settle({"--map": Blank("FILE")}, "names it")],
        )  # fmt: skip
    maps = read_maps(request.map)
    if len(maps) != 1:
        problem = f"a cluster needs one table [data]; there are {len(maps)}"
        place = maps[0].place if maps else str(request.map)
        raise ParameterError(place, problem, "leave one of them", name="bad-map")
    return maps[0], maps[0].merged(replace(request, map=None))


def _require_possible(own: Map, request: Request) -> None:
    """Errors for what a map lacks, and for roles and options that a cluster does not know."""
    fields = request.named
    for role in ("task", "outcome", "model"):
        if role not in fields:
            line = f'{role} = "COLUMN"' + ' or model = {value = "NAME"}' * (role == "model")
            raise ParameterError(own.place, f"no {role}", f"write {line}", name="bad-map")
    for role, column in fields.items():
        if role not in _ROLES:
            problem = f"{role}: a cluster counts passes and adds amounts"
            raise NotOnSpark(own.place, problem, "leave the role out")
        made = column.startswith("@") and not column.startswith(VALUE)
        if made or "[" in column or (role == "outcome" and "," in column):
            problem = f"{role}: a cluster reads no lists, lines and columns of models ({column})"
            raise NotOnSpark(own.place, problem, "write a row per attempt")
    policies = {"--missing": request.missing == "bounds", "--threshold": len(request.threshold) > 1,
                "--duplicates": request.duplicates in ("first", "last")}  # fmt: skip
    for option in changed(request):
        if option in _LATER:
            problem = "a cluster counts all models and tasks"
            remedy = f"give {option} to the command that reads the counts"
        elif option not in _OPTIONS or policies.get(option):
            problem, remedy = "a cluster does not apply it", ""
        else:
            continue
        raise ParameterError(
            Given(option), problem, remedy, name="contradicting-options",
            settles=[] if remedy else [Settle({option: None})],
        )  # fmt: skip


@dataclass(frozen=True)
class _Groups:
    """Groups of equal rows, of which a cluster says how often each is there.

    request : with the map.
    """

    spark: Any
    rows: Rows
    request: Request

    @property
    def layout(self) -> Layout:
        """The columns of the groups, and what the values of roles are made of."""
        columns = {column: {"text"} for column in (*self.rows.columns, *self.columns)}
        kinds = ((column, frozenset(kinds)) for column, kinds in columns.items())
        return Layout("spark", "", tuple(kinds), joined=self.request.joined(columns))

    @property
    def columns(self) -> list[str]:
        """Columns that groups are made by: those that roles are made of, and groups."""
        named = self.request.named
        roles = [named[role] for role in ("model", "task", "outcome")]
        every = [part for column in roles for part in parts(column, self.rows.columns)]
        return [c for c in dict.fromkeys((*every, *self.request.by)) if not c.startswith(VALUE)]

    @property
    def amounts(self) -> dict[str, list[tuple[str, str]]]:
        """Role → the columns whose numbers add up to its amount, with their units."""
        named = self.request.fields
        return {r: addends(r, named[r], self.rows.columns) for r in UNITS if r in named}

    def counts(self) -> tuple[Counts, dict[str, Any]]:
        """Counts, and the sums of amounts, as `count` has them."""
        con, request = ours(), self.request
        con.register("home_", self._grouped())
        self._judge(con)
        con.unregister("home_")
        self._require_sound(con)
        said = self._words(con)
        # With missing outcomes left out, so is what their attempts took.
        counted = "true" if request.missing == "fail" else "verdict IS NOT NULL"
        sums = "".join(
            f", CASE WHEN sum({role}_known) FILTER ({counted}) = sum(times) FILTER ({counted})"
            f" THEN sum({role}) FILTER ({counted}) ELSE 'nan' END AS {role}"
            for role in self.amounts
        )
        cells = con.execute(
            f"SELECT {', '.join(self.keys)}, sum(times)::BIGINT AS made,"
            " coalesce(sum(times) FILTER (verdict = 1), 0)::BIGINT AS c,"
            f" coalesce(sum(times) FILTER (verdict IS NULL), 0)::BIGINT AS missing{sums}"
            " FROM judged_ GROUP BY ALL ORDER BY ALL"
        ).fetchnumpy()
        return self._decided(cells, said)

    @property
    def keys(self) -> list[str]:
        return ["model", *(f"group{i}" for i in range(len(self.request.by))), "task"]

    def _grouped(self) -> Any:
        """The groups as an Arrow table, with how often each is there and sums of amounts."""
        attempt = self.request.fields.get("attempt")
        parts = [part for added in self.amounts.values() for part, _ in added]
        read = dict.fromkeys((*self.columns, *parts, *filter(None, [attempt])))
        self.rows.chosen([*read]).createOrReplaceTempView("passk_rows")
        keys = [name(column) for column in self.columns]
        shown = [self._key(column) for column in self.columns]
        totals = [f"count_if(NOT {name(BAD)}) AS {name('#times')}"]
        totals.append(f"count_if({name(BAD)}) AS {name('#bad')}")
        for role, added in self.amounts.items():
            numbers = [f"{_number(part)}{unit}" for part, unit in added]
            number, missing = " + ".join(numbers), " OR ".join(_lacks(part) for part, _ in added)
            totals.append(f"sum({number}) AS {name('#' + role)}")
            totals.append(f"count({number}) AS {name(f'#{role}_known')}")
            wrong = f"NOT coalesce(({number}) BETWEEN 0 AND 1e308, false) AND NOT ({missing})"
            totals.append(f"count_if({wrong} AND NOT {name(BAD)}) AS {name(f'#{role}_wrong')}")
        inner = ", ".join((*shown, name(BAD), *map(name, {*parts} - {*self.columns})))
        table = self.spark.sql(
            f"SELECT {', '.join((*keys, *totals))} FROM (SELECT {inner} FROM passk_rows)"
            f" GROUP BY {', '.join(keys)} LIMIT {_MOST_GROUPS + 1}"
        ).toArrow()
        if table.num_rows > _MOST_GROUPS:
            problem = f"over {_MOST_GROUPS:,} different rows would have to leave the cluster"
            raise NotOnSpark(self.rows.place, problem, "is each outcome a verdict or a score?")
        if attempt and self.request.duplicates == "error":
            self._require_once(attempt)
        return table

    def _key(self, column: str) -> str:
        """A column by which rows are grouped: of a score with a threshold, whether it passes."""
        value, bar = name(column), self.request.bar
        alone = column == self.request.named["outcome"] and column not in self.request.by
        if bar is None or not alone:
            return value
        number = f"try_cast({value} AS DOUBLE)"
        passes = f"if({number} >= {bar - SLACK!r}D, '{REACHED}', '{BELOW}')"
        plain = f"{value} RLIKE {text(_PLAIN)} AND abs({number}) < 1e308"
        return f"CASE WHEN {plain} THEN {passes} ELSE {value} END AS {value}"

    def _require_once(self, attempt: str) -> None:
        """DataError for attempts that come more than once."""
        outcome = parts(self.request.named["outcome"], self.rows.columns)
        own = [name(c) for c in self.columns if c not in outcome or c in self.request.by]
        keys = ", ".join((*own, name(attempt)))
        who = ", ".join(f"coalesce({key}, '')" for key in own)
        ((repeats, example),) = self.spark.sql(
            f"SELECT count(*), min(concat_ws(' ', {name(attempt)}, 'of', {who})) FROM"
            f" (SELECT {keys} FROM passk_rows WHERE {name(attempt)} IS NOT NULL"
            f" GROUP BY {keys} HAVING count(*) > 1)"
        ).collect()
        if repeats:
            keep = Settle({"--duplicates": "keep"}, "counts each row")
            problem = f"attempts that come more than once: {repeats:,} (attempt {example})"
            raise DataError(
                self.rows.place, problem, "leave copies out", name="duplicate-attempts",
                settles=[keep],
            )  # fmt: skip

    def _judge(self, con: Any) -> None:
        """Make the table `judged_`: the groups with what their values mean."""
        request, layout = self.request, self.layout
        values = {r: layout.text(request.named[r], ()) for r in ("model", "task", "outcome")}
        for i, column in enumerate(request.by):
            values[f"group{i}"] = f"coalesce({quote_name(column)}, '')"
        ends = ("", "_known", "_wrong")
        numbers = ["times", "bad", *(role + end for role in self.amounts for end in ends)]
        shown = [f"{sql} AS {column}" for column, sql in values.items()]
        shown += [f"{quote_name('#' + number)} AS {number}" for number in numbers]
        # Words and thresholds judged the columns of `--all`.
        passes, fails = ((), ()) if request.all_of else (request.passes, request.fails)
        verdict = verdict_sql("outcome", request.bar, passes=passes, fails=fails)
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE judged_ AS SELECT *, {verdict} AS verdict"
            f" FROM (SELECT {', '.join(shown)} FROM home_)"
        )

    def _require_sound(self, con: Any) -> None:
        """DataError for rows that are none, and values that cannot be used."""
        request, place = self.request, self.rows.place
        wrong = "".join(f", sum({role}_wrong)" for role in self.amounts)
        ((bad, tasks, models, odd, example, missing, *amounts),) = con.execute(
            "SELECT sum(bad), sum(times) FILTER (task IS NULL), sum(times) FILTER (model IS NULL),"
            " sum(times) FILTER (verdict = -1), min(outcome) FILTER (verdict = -1),"
            f" sum(times) FILTER (verdict IS NULL){wrong} FROM judged_"
        ).fetchall()
        if bad and not request.skip_bad:
            what = "rows with another number of fields than the header"
            what = "lines that are not JSON records" if self.rows.form == "jsonl" else what
            raise BadRecord(place, f"{what}: {bad:,}", settles=[SKIPPED])
        con.execute("DELETE FROM judged_ WHERE times = 0")
        for role, number in (("task", tasks), ("model", models)):
            if number:
                problem = f"rows without a {role} in {request.named[role]!r}: {number:,}"
                remedy = "correct them, or leave them out of the data"
                raise DataError(place, problem, remedy, name="missing-name")
        if odd:
            problem = f"outcomes that neither pass nor fail: {odd:,} (such as {example!r})"
            remedy = "write passes = or threshold = in the map"
            raise DataError(place, problem, remedy, name="bad-outcome")
        if missing and request.missing == "error":
            problem = f"{plural(missing, 'attempt')} without an outcome"
            raise DataError(place, problem, name="missing-outcome", settles=COUNTED)
        for role, number in zip(self.amounts, amounts, strict=True):
            if number:
                problem = f"attempts with a {role} that is not a number from 0 up: {number:,}"
                remedy = "correct it, or leave the role out of the map"
                raise DataError(place, problem, remedy, name="missing-value")

    def _words(self, con: Any) -> list[Said]:
        """What counts as a pass and a failure, where the map names words."""
        request, place = self.request, self.rows.place
        if request.all_of or not (request.passes or request.fails):
            return []
        words = con.execute(
            "SELECT trim(outcome) AS word, sum(times)::BIGINT AS times, any_value(verdict)"
            " FROM judged_ WHERE outcome IS NOT NULL GROUP BY word ORDER BY times DESC, word"
        ).fetchall()
        require_matched(words, request, place)
        return [named_outcomes(words, request, place)]

    def _decided(
        self, cells: Mapping[str, Any], said: Sequence[Said]
    ) -> tuple[Counts, dict[str, Any]]:
        """Counts of cells after the policy of missing outcomes, and the sums of their amounts."""
        request = self.request
        series = [*zip(*(cells[key] for key in self.keys[:-1]), strict=True)]
        made, missing, passed = (cells[c].astype(np.int64) for c in ("made", "missing", "c"))
        tasks = cells["task"].tolist()
        every = Counts.from_columns(series, tasks, made, passed, request.by, missing=missing)
        n = made if request.missing == "fail" else made - missing
        there = n > 0
        if not there.any():
            raise DataError(self.rows.place, "no attempts in this data", "is it complete?",
                            name="no-attempts")  # fmt: skip
        roles = {role: column for role, column in request.named.items() if role in _ROLES}
        form = f"{self.rows.form} (on Spark)"
        facts = ReadFacts(
            inputs=(InputFacts(self.rows.place, form, roles, ()),),
            missing=int(missing.sum()), missing_policy=request.missing,
            losses=every.losses if missing.any() else None,
            duplicates_policy=request.duplicates, duplicates_checked="attempt" in roles,
            emptied=int((~there).sum()), passes=request.passes, threshold=request.bar,
            messages=(*said, *(
                WITHOUT_GROUP(attempts=without, column=column)
                for column, key in zip(request.by, self.keys[1:-1], strict=True)
                if (without := int(n[cells[key] == ""].sum()))
            )),
        )  # fmt: skip
        counts = Counts.from_columns(
            [each for each, kept in zip(series, there, strict=True) if kept],
            [each for each, kept in zip(tasks, there, strict=True) if kept],
            n[there], passed[there], request.by, facts,
        )  # fmt: skip
        # Cells came in the order in which counts have them: models, groups and tasks as texts.
        sums = {role: cells[role][there] for role in self.amounts}
        return counts, {
            f"{role}_sum": np.where(np.isnan(each), None, each) for role, each in sums.items()
        }


def _lacks(column: str) -> str:
    """Spark's SQL for whether an attempt has no amount."""
    value = name(column)
    missing = f"lower(trim({value})) IN ({', '.join(map(text, MISSING_WORDS))})"
    return f"({value} IS NULL OR {missing} OR {_cast(column)} <=> double('NaN'))"


def _cast(column: str) -> str:
    return f"try_cast(trim(LEADING ' $' FROM {name(column)}) AS DOUBLE)"


def _number(column: str) -> str:
    """Spark's SQL for an amount; NULL for none."""
    return f"CASE WHEN NOT {_lacks(column)} THEN {_cast(column)} END"
