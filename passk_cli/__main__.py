"""`python -m passk_cli`, and the function behind the `passk` command."""

from passk_cli.cli.app import main

if __name__ == "__main__":
    main()
