"""`python -m passk_cli`, and the function behind the `passk` command."""

import atexit
import gc
import sys

# A process that ends need not search for garbage, which takes a twentieth of a start-up.
atexit.register(gc.freeze)


def main() -> None:
    """Run the command line in a process that survives closed streams and ends at a signal."""
    # Importing leaves almost no garbage, and searching for it takes a tenth of a start-up.
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    try:
        # These imports are here because they may take longer than the user needs to press Ctrl-C.
        from passk_cli.cli.process import end_on_signals, open_streams

        with open_streams(), end_on_signals():
            if sys.argv[1:] in (["--help"], ["-h"]):
                _print_overview()
            else:
                from passk_cli.cli import app

                app.main()
    except KeyboardInterrupt:
        # The signal came before its handler was installed.
        raise SystemExit(130) from None


def _print_overview() -> None:
    """Print the list of commands without importing what describes and runs them."""
    from passk_cli.cli.overview import overview
    from passk_cli.errors import PasskError

    try:
        print(overview(), flush=True)
    except PasskError as error:
        from passk_cli.cli.error_printing import write_error

        sys.exit(write_error(error, sys.argv[1:]))


if __name__ == "__main__":
    main()
