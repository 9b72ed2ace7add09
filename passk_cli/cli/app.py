"""The typer app, --version, the one place that prints errors, and exit codes."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from passk_cli import __version__
from passk_cli.cli.bootstrap import bootstrap
from passk_cli.cli.compare import compare
from passk_cli.cli.curve import curve
from passk_cli.cli.describe import describe
from passk_cli.cli.diversity import diversity
from passk_cli.cli.estimate import estimate
from passk_cli.cli.extrapolate import extrapolate
from passk_cli.cli.gate import gate
from passk_cli.cli.groups import grouped
from passk_cli.cli.order import order
from passk_cli.cli.plan import plan
from passk_cli.cli.temperature import temperature
from passk_cli.errors import PasskError

EXIT_INTERNAL = 4

app = typer.Typer(
    name="passk",
    help="pass@k and pass^k from any harness's result files: how good, how sure, which is better.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 bad data, 4 internal error.",
)
COMMANDS = (
    estimate, compare, gate, bootstrap, curve, extrapolate, order, diversity, temperature, plan,
    describe,
)  # fmt: skip
for command in COMMANDS:
    app.command()(grouped(command))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"passk {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every error the user can cause ends as one line and an exit code."""
    # Starting the threads of a linear algebra library costs more than its products here gain.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    try:
        app()
    except PasskError as error:
        print(f"passk: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader has gone, as after `| head`: end quietly, and keep Python from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("PASSK_DEBUG"):
            raise
        print(
            f"passk: internal error: {type(error).__name__}: {error};"
            " please report it with the traceback that PASSK_DEBUG=1 shows",
            file=sys.stderr,
        )
        sys.exit(EXIT_INTERNAL)
