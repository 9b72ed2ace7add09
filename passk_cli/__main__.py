"""The entry point of the `passk` command and of `python -m passk_cli`."""

import atexit
import gc
import sys

# gc.freeze prevents a garbage collection at the end of the process, which would take 5 % of the
# time of a short command.
atexit.register(gc.freeze)


def main() -> None:
    """Run the command line, and end promptly after a signal.  Standard streams may be closed."""
    # A high threshold prevents garbage collections during imports. Imports create almost no
    # garbage, but collecting it would take 10 % of the time of a short command.
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    try:
        # The imports are inside `try`, because users may press Ctrl-C while Python imports modules.
        from passk_cli.cli.process import end_on_signals, robust_standard_streams

        with robust_standard_streams(), end_on_signals():
            if sys.argv[1:] in (["--help"], ["-h"]):
                _print_overview()
            else:
                from passk_cli.cli import app

                app.main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _print_overview() -> None:
    from passk_cli.cli.overview import overview
    from passk_cli.errors import PasskError

    try:
        print(overview(), flush=True)
    except PasskError as error:
        from passk_cli.cli.error_printing import print_error_and_return_exit_code

        sys.exit(print_error_and_return_exit_code(error, sys.argv[1:]))


if __name__ == "__main__":
    main()
