"""The command: `afterstate`, and python -m afterstate. Ctrl-C ends it in one way from the first moment, imports included."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from afterstate.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
