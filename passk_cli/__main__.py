"""`python -m passk_cli`, and the function behind the `passk` command."""

import atexit
import gc
import sys

# Nothing of a process that ends is looked through for garbage, which takes a twentieth of a start.
atexit.register(gc.freeze)


def main() -> None:
    """Run the command line in a process that survives closed streams and ends when told to."""
    # Importing leaves next to no garbage, and looking for it takes a tenth of a start-up.
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    try:
        # Here, since importing takes longer than a reader may take to press Ctrl-C.
        from passk_cli.cli.process import end_on_signals, open_streams

        with open_streams(), end_on_signals():
            if sys.argv[1:] in (["--help"], ["-h"]):
                _print_overview()
            else:
                from passk_cli.cli import app

                app.main()
    except KeyboardInterrupt:
        # Before the signal has a handler of ours.
        raise SystemExit(130) from None


def _print_overview() -> None:
    """Print the list of commands without what describes and runs them."""
    from passk_cli.cli.overview import overview
    from passk_cli.errors import PasskError

    try:
        print(overview(), flush=True)
    except PasskError as error:
        from passk_cli.cli.failure import write_failure

        sys.exit(write_failure(error, sys.argv[1:]))


if __name__ == "__main__":
    main()
