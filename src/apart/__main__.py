"""``python -m apart`` is the command line."""

from apart.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
