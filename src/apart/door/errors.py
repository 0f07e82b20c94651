"""Errors in Python's words.

Errors of the command line name flags (``--learning-rate 0.1``); here they name arguments
(``learning_rate=0.1``).
"""

from __future__ import annotations

import re
from types import TracebackType
from typing import Final

from apart._config import TYPES
from apart._errors import NonFinite, UserError
from apart.facts import choices
from apart.running.engines import ENGINES


class in_python:
    """Errors raised within it name arguments instead of flags, without our frames.

    A class, as a generator of `contextlib` would restore the whole traceback.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError):  # a path that the system refuses to look at
            text = f"{error.filename or 'the system'}: {error.strerror or error}"
            raise UserError(text) from None
        if isinstance(error, UserError | NonFinite):
            error.args = (_FLAG.sub(_argument, str(error)),)  # its class may want other arguments
            raise error.with_traceback(None) from None


# ``--name: VALUE is not ...``, ``--name VALUE`` or ``--name``, which no path or word goes on to.
_FLAG: Final = re.compile(
    r"(?<![\w./-])--(?P<no>no-)?(?P<name>[a-z]+(?:-[a-z]+)*)"
    r"(?:: (?P<wrong>[^;]+?)(?= is (?:not|no|outside) )"
    r"|(?P<colon>:)"
    r"| (?!--)(?P<value>'[^']*'|[\w.+/-]+(?:[:,][\w.+/-]+)*)(?P<ends>(?=:|$))?)?"
)


def _argument(found: re.Match[str]) -> str:
    """What the command line calls ``--name value`` as an argument of a Python function."""
    name, value = found["name"].replace("-", "_"), found["value"]
    name = _CALLED.get(name, name)
    if found["wrong"]:
        return f"{name}={found['wrong']}"
    if found["colon"]:
        return f"{name}:"
    rest = "" if value is None else f" {value}"
    if found["no"] or name in _SWITCHES:
        return f"{name}={not found['no']}{rest}"
    if value is None:
        return f"{name}="
    if re.fullmatch(r"'.*'|[\d.e+-]+", value):
        return f"{name}={value}"
    if found["ends"] is not None or re.split("[:/+]", value)[0] in _names():
        return f"{name}={value!r}"
    return f"{name}={rest}"


_CALLED: Final = {"with": "known"}  # a word of Python
_SWITCHES: Final = {"overwrite", *(name for name, kind in TYPES.items() if kind is bool)}


def _names() -> set[str]:
    """Of all that options may name."""
    return {"auto", *ENGINES, *(name for names in choices().values() for name in names)}
