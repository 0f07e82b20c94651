"""Who may write into a folder: a new run takes an empty one, or one whose run may go. No JAX."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from apart._errors import RunInterrupted, UserError
from apart.runs import files
from apart.runs.folder import (
    CHECKPOINTS,
    CONFIG,
    FRAMES,
    LOGS,
    METRICS,
    PICTURE,
    REPORT,
    SEED,
    SET,
    SKILLS,
    SUMMARY,
    seed_folders,
    seeds_in,
)
from apart.runs.lock import NAME as LOCK
from apart.runs.lock import Lock


def claim(path: Path, overwrite: bool, wait: bool = False) -> Lock:
    """Make ``path`` an empty folder of ours and hold it, or say in one line why it cannot be.

    Told to ``wait``, for whoever holds it.
    """
    _refuse(path, overwrite)
    files.make_folder(path)
    lock = Lock(path, wait)
    try:
        _refuse(path, overwrite)  # another process may have been quicker
        with contextlib.ExitStack() as held:
            for seed in seeds_in(path):
                held.enter_context(Lock(seed))
            _clear(path)
    except BaseException:
        lock.close()
        raise
    return lock


@contextlib.contextmanager
def claimed(path: Path, overwrite: bool) -> Iterator[None]:
    """`claim` for a new run or set, which goes again if it fails before anything was trained.

    Then the folder is as empty as it was, or gone if it was made here, so that nothing stands in
    the way of the next try.
    """
    made = not path.exists()
    with claim(path, overwrite):
        try:
            yield
        except RunInterrupted:  # it can go on
            raise
        except Exception:
            if not begun(path):
                with contextlib.suppress(UserError, OSError):  # the first error says more
                    _clear(path)
                    for folder in (*seeds_in(path), path) if made else ():
                        files.remove(folder / LOCK)
                        files.remove_folder(folder)
            raise


def begun(path: Path) -> bool:
    """Whether the run in ``path``, or any of a set, came to its first round of training."""
    return any((folder / METRICS).exists() for folder in (path, *seeds_in(path)))


def _refuse(path: Path, overwrite: bool) -> None:
    why = refusal(path, overwrite)
    if why:
        raise UserError(why)


def refusal(path: Path, overwrite: bool) -> str | None:
    """Why a new run may not use ``path``; None when it may."""
    if SEED.fullmatch(path.name) and (path.parent / CONFIG).exists():
        return f"{path} would be inside the run in {path.parent}; choose another --out"
    if not path.exists():
        return None
    if not path.is_dir():
        return f"{path} is a file; choose another --out"
    if _empty(path):
        return None
    if not (path / SET).exists() and not (path / CONFIG).exists() and not seed_folders(path):
        return f"{path} is not empty and holds no run; choose another --out"
    if overwrite:
        return None
    if (path / SUMMARY).exists():
        return (
            f"{path} holds a finished run; choose another --out (such as {path}-2) or pass "
            "--overwrite"
        )
    return (
        f"{path} holds an unfinished run; continue it with 'apart resume {path}', choose another "
        "--out or pass --overwrite"
    )


def occupied(path: Path) -> str | None:
    """Why ``path`` is no place for what must be alone in its folder; None: it is new or empty."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        return f"{path} is not a folder; choose another --out"
    if path.exists() and files.listing(path):
        return f"{path} is not empty; choose another --out"
    return None


@contextlib.contextmanager
def filling(path: Path, names: Sequence[str]) -> Iterator[None]:
    """Makes the folder ``path``, new or empty, for files of these ``names``.

    If writing them fails it is as empty as it was, or gone if it was made here, so that nothing
    stands in the way of the next try.
    """
    made = not path.exists()
    files.make_folder(path)
    try:
        yield
    except BaseException:
        with contextlib.suppress(UserError, OSError):  # the first error says more
            files.remove(*files.leftovers(path, names), *(path / name for name in names))
            if made:
                files.remove_folder(path)
        raise


# What a run or a set writes, in the order in which it is taken away: last, what says that it is.
_FILES: Final = (SUMMARY, SKILLS, PICTURE, FRAMES, REPORT, *LOGS, CONFIG, SET)


def _empty(path: Path) -> bool:
    """Whether ``path`` has nothing but what a run that was killed at its very start leaves."""
    return all(
        entry.name == LOCK
        or files.meant_for(entry.name) in (CONFIG, SET)
        or (SEED.fullmatch(entry.name) and entry.is_dir() and _empty(entry))
        for entry in files.listing(path)
    )


def _clear(path: Path) -> None:
    """Remove what a run or a set writes, and nothing else."""
    for seed in seeds_in(path):
        _clear(seed)
    states = path / CHECKPOINTS
    if states.is_dir() and not states.is_symlink():
        files.remove(*states.glob("iteration-*"), *states.glob(".iteration-*"))
        if not files.listing(states):
            files.remove_folder(states)
    files.remove(*files.leftovers(path, _FILES), *(path / name for name in _FILES))
