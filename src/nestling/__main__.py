"""``python -m nestling``: the command line."""

from nestling.apps.cli import main

main()
