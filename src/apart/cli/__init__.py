"""The command line: a small file per command. Errors are one line and do not import JAX.

Argparse rather than a larger parser, because its start is quick and every error must be one line of
our own. Each command is a module with ``add``, which gets its parser and the whole command line.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from apart._config import ELSEWHERE, MOVED, SPECS, flag, unknown_option
from apart._errors import NonFinite, RunInterrupted, UserError, nearest
from apart._version import __version__
from apart.cli import (
    bench,
    check,
    compare,
    draw,
    export,
    listing,
    play,
    reach,
    report,
    reproduce,
    resume,
    sweep,
    train,
    words,
)

_MOST_WORDS = 1000
_COMMANDS = {
    "train": train,
    "check": check,
    "resume": resume,
    "draw": draw,
    "play": play,
    "report": report,
    "reach": reach,
    "export": export,
    "list": listing,
    "reproduce": reproduce,
    "compare": compare,
    "sweep": sweep,
    "bench": bench,
}


class _Parser(argparse.ArgumentParser):
    """Argparse whose errors are `UserError`, with the nearest valid name."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(allow_abbrev=False, **arguments)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -1,0 is a value, no option

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    The exit code is 0, 1 (a goal not reached), 2 (input), 3 (not finite), or 128 + signal.
    """
    said = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may know only ASCII
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            return _run(said)
    except UserError as error:
        return _fail(str(error), 2)
    except NonFinite as error:
        return _fail(str(error), 3)
    except RunInterrupted as error:
        return _fail(str(error), 128 + error.signal_number)
    except KeyboardInterrupt:
        return _fail("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a path that the system refuses to look at
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 2)


def _warned(message: Warning | str, *_: Any, **__: Any) -> None:
    """In a line, without the place in the code."""
    words.note(" ".join(str(message).split()))


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    if len(line) > _MOST_WORDS:
        line = f"{line[: _MOST_WORDS // 2]} ... {line[-_MOST_WORDS // 2 :]}"
    print(f"apart: {line}", file=sys.stderr)
    return code


def _run(said: list[str]) -> int:
    parser, commands = _parser(said)
    if said and not said[0].startswith("-") and said[0] not in commands:
        hint = nearest(said[0], commands) or f"; choose from {', '.join(commands)}"
        raise UserError(f"unknown command '{said[0]}'{hint}")
    parsed, rest = parser.parse_known_args(said)
    if rest:
        raise _unexpected(rest[0], commands.get(said[0]))
    if "command" not in parsed:
        parser.print_help()
        return 0
    for name, value in vars(parsed).items():
        if value == [] and name not in ("ids", "kinds", "worlds"):  # what argparse makes of it
            raise UserError(f"{flag(name)}: '--' is not a value")
    command: Callable[[argparse.Namespace], int] = parsed.command
    return command(parsed)


def _unexpected(word: str, parser: argparse.ArgumentParser | None) -> UserError:
    if not word.startswith("-") or parser is None:
        return UserError(f"unexpected argument '{word}'")
    known = {option for action in parser._actions for option in action.option_strings}
    known -= {"-h", "--help"}
    name = word.split("=")[0]
    field = name.removeprefix("--no-").lstrip("-").replace("-", "_")
    if field in MOVED or flag(ELSEWHERE.get(field, "")) in known:
        return unknown_option(field, name)
    if field in SPECS and flag(field) not in known:
        return UserError(
            f"'{name}' is an option of apart train, not of {parser.prog} (see {parser.prog} --help)"
        )
    return UserError(
        f"unknown option '{name}'{nearest(name, known) or f' (see {parser.prog} --help)'}"
    )


def _parser(said: list[str]) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = _Parser(
        prog="apart",
        usage="apart [-h] [--version] COMMAND ...",
        description="Unsupervised skill discovery: learn different skills without reward.",
        epilog="Start with: apart train four_rooms --method apart_plus. "
        "'apart COMMAND --help' shows the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"apart {__version__}")
    # Not `required`, not `choices`: `_run` gives the nearest command's name itself.
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND ...", prog="apart", parser_class=_Parser
    )
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, module in _COMMANDS.items():
        commands[name] = subparsers.add_parser(
            name, help=module.HELP, description=f"{module.HELP[0].upper()}{module.HELP[1:]}."
        )
        if said[:1] == [name]:
            module.add(commands[name], said)
    return parser, commands
