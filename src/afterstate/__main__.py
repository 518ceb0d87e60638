"""python -m afterstate: the command."""

from afterstate.cli.main import main

main()
