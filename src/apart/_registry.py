"""Tables of named records that others can add to, in a line of Python or by an entry point.

An installed package names a module in the entry points of the group ``apart.plugins``; the module
registers what it has when it is imported. That happens when a name is not known, or all names are
asked for: those who use none of it do not wait for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from apart._errors import UserError, unknown

GROUP = "apart.plugins"
Record = TypeVar("Record")


class Registry(Mapping[str, Record], Generic[Record]):
    """Records by name, in the order in which they came."""

    def __init__(self, kind: str, records: Mapping[str, Record]) -> None:
        self._kind, self._records = kind, dict(records)
        self.only_here: set[str] = set()  # added in this process, not by a plugin

    def __getitem__(self, name: str) -> Record:
        return self._records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def named(self, name: str) -> Record:
        """The record of that name, of a plugin too; `UserError` with the nearest one otherwise."""
        if name not in self._records:
            load_plugins()
        if name not in self._records:
            raise unknown(self._kind, str(name), self)
        return self._records[name]

    def register(self, name: str, record: Record) -> None:
        """Add ``record``; `UserError` where another one has the name already."""
        if not isinstance(name, str) or not name.isidentifier():
            raise UserError(f"{self._kind} {name!r}: use letters, digits and underscores")
        if name in self._records and self._records[name] != record:
            raise UserError(f"{self._kind} {name!r} is there already; choose another name")
        self._records[name] = record
        if not _loading:
            self.only_here.add(name)


_loading: list[str] = []  # the plugin that is being imported


@lru_cache(maxsize=1)
def load_plugins() -> None:
    """Import the modules that installed packages name; once."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        _loading.append(entry.name)
        try:
            entry.load()
        except Exception as error:  # whatever it is, others go on without it
            warnings.warn(f"plugin {entry.name} ({entry.value}): {error!r}", stacklevel=2)
        finally:
            _loading.pop()


def loading() -> bool:
    """Whether a plugin is being imported: what it registers is known in every process."""
    return bool(_loading)
