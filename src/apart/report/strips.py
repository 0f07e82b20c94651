"""Small frames of every skill, kept in the run folder for pages that cannot play it again.

A strip is where all skills start and what is seen of one after quarters of its episode. Frames are
small, share one palette, and equal ones are kept once; what is still too large loses times first,
then skills.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from apart._types import IntArray
from apart.report.page_numbers import Json, packed
from apart.runs import files
from apart.runs import folder as run_folder
from apart.runs.folder import Run
from apart.runs.folder import shaped as well_shaped
from apart.worlds.world import TableWorld

if TYPE_CHECKING:
    from apart.skills.frames import Film

_PARTS: Final = 4  # of an episode
_SIDE: Final = 72  # pixels of the longer side, at most
_COLOURS: Final = 64
_MOST: Final = 300_000  # characters of all frames of a run
_MOST_SKILLS: Final = 120


class Strips(NamedTuple):
    """The frames of some skills.

    Attributes:
        skills: whose.
        times: after how many steps, from 0 on.
        palette: [C, 3] bytes.
        sprites: [U, H, W] numbers of colours; no two are equal.
        which: [skills, times] numbers of sprites.
    """

    skills: list[int]
    times: list[int]
    palette: IntArray
    sprites: IntArray
    which: IntArray


def times(horizon: int) -> list[int]:
    """Quarters of an episode; the last is its end."""
    return sorted({max(math.ceil(horizon * n / _PARTS), 1) for n in range(1, _PARTS + 1)})


def seen_in_images(run: Run) -> bool:
    """Whether the world shows itself in images, so that frames say what places do not."""
    world = run.world
    return not isinstance(world, TableWorld) and len(world.obs.shape) == 3


def filmed(run: Run, skills: Sequence[int], after: Sequence[int]) -> Film:
    """`skills.frames.film`, of which strips are kept in the run folder on the way."""
    from apart.skills.frames import film  # starts JAX

    ours = times(int(run.config["horizon"]))
    every = sorted({*after, *ours})
    shown = film(run, skills, every)
    keep(run, made(shown, skills[:_MOST_SKILLS], [0, *ours], [every.index(t) for t in ours]))
    wanted = [every.index(t) for t in after]
    return shown._replace(frames=[[frames[n] for n in wanted] for frames in shown.frames])


def film_all(run: Run) -> None:
    """Keep strips of the run's skills; `UserError` if the world cannot be rendered here."""
    filmed(run, range(min(len(run.skills), _MOST_SKILLS)), [int(run.config["horizon"])])


def made(shown: Film, skills: Sequence[int], at: Sequence[int], columns: Sequence[int]) -> Strips:
    """Strips of ``skills``: the start, and the frames in ``columns``, all at times ``at``."""
    from apart.skills.frames import shrunk  # starts JAX

    frames = [[shown.start, *(shown.frames[n][c] for c in columns)] for n in range(len(skills))]
    small: Any = np.array([[shrunk(frame, _SIDE) for frame in strip] for strip in frames], np.uint8)
    found, which = np.unique(small.reshape(-1, *small.shape[2:]), axis=0, return_inverse=True)
    palette, sprites = _quantized(found)
    return Strips([*skills], [*at], palette, sprites, which.reshape(small.shape[:2]))


def _quantized(frames: IntArray) -> tuple[Any, Any]:
    """The colours of [U, H, W, 3] frames, and the frames as numbers of colours."""
    from PIL import Image

    n, tall, wide, _ = frames.shape
    sheet = Image.fromarray(frames.reshape(n * tall, wide, 3), "RGB")
    flat = sheet.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    used = np.asarray(flat)
    palette = np.array(flat.getpalette(), np.uint8).reshape(-1, 3)[: int(used.max()) + 1]
    return palette, used.reshape(n, tall, wide)


def keep(run: Run, strips: Strips) -> None:
    """Store ``strips`` with the run, as many as there is room for."""
    content = _content(strips)
    while len(content["sprites"]["data"]) > _MOST:
        smaller = _fewer(strips)
        if smaller is None:
            return
        strips, content = smaller, _content(smaller)
    files.write_sealed(run.path / run_folder.FRAMES, {**content, **_of(run)})


def _fewer(strips: Strips) -> Strips | None:
    """Without every other time after the start, else without half of the skills."""
    if len(strips.times) > 2:
        columns = [0, *range(2, len(strips.times), 2)]
        which: Any = strips.which[:, columns]
        kept = strips._replace(times=[strips.times[c] for c in columns])
    elif len(strips.skills) > 1:
        half = len(strips.skills) // 2
        kept, which = strips._replace(skills=strips.skills[:half]), strips.which[:half]
    else:
        return None
    used, again = np.unique(which, return_inverse=True)
    return kept._replace(
        sprites=strips.sprites[used], which=np.asarray(again.reshape(which.shape), np.int32)
    )


def _content(strips: Strips) -> Json:
    return {
        "skills": strips.skills,
        "times": strips.times,
        "palette": packed(strips.palette, "uint8"),
        "sprites": packed(strips.sprites, "uint8"),
        "which": packed(strips.which, "uint16"),
    }


def _of(run: Run) -> Json:
    """What says which state of which run frames are of."""
    return {"config_sha256": run.sha256, "env_steps": run.summary["env_steps"]}


def stored(run: Run) -> Json | None:
    """The strips of ``run`` as `keep` wrote them, ready for a page.

    None where there are none, or only those of before the run went on.

    Raises:
        UserError: the file was damaged.
    """
    path = run.path / run_folder.FRAMES
    if not path.exists():
        return None
    content = files.read_sealed(path)
    if any(content.get(name) != value for name, value in _of(run).items()):
        return None
    with well_shaped(path):
        found = {name: content[name] for name in Strips._fields}
        _checked(found, len(run.skills))
    return found


def _checked(found: Json, n_skills: int) -> None:
    """`ValueError` where the parts do not fit each other."""
    skills, at = ([int(n) for n in found[name]] for name in ("skills", "times"))
    arrays = {name: _read(found[name]) for name in ("palette", "sprites", "which")}
    fits = (
        all(0 <= skill < n_skills for skill in skills)
        and arrays["which"].shape == (len(skills), len(at))
        and arrays["sprites"].ndim == 3
        and arrays["palette"].shape[1:] == (3,)
        and int(arrays["which"].max()) < len(arrays["sprites"])
        and int(arrays["sprites"].max()) < len(arrays["palette"])
    )
    if not fits:
        raise ValueError("its parts do not fit each other")


def _read(part: Json) -> Any:
    if part["kind"] not in _KINDS:
        raise ValueError(part["kind"])
    data = zlib.decompressobj().decompress(base64.b64decode(part["data"]), _MOST_BYTES)
    return np.frombuffer(data, np.dtype(part["kind"]).newbyteorder("<")).reshape(part["shape"])


_KINDS: Final = ("uint8", "uint16")
_MOST_BYTES: Final = 50_000_000
