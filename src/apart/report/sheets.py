"""Contact sheets: what a world renders of each of its skills, for worlds without map and plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from apart.report.draw import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST: Final = 120  # skills on a sheet
_FEW: Final = 40  # skills that are seen several times on their way
_SHARES: Final = (1 / 3, 2 / 3, 1.0)  # of an episode
_AREA, _LEAST, _LARGEST = 75.0, 0.7, 3.0  # square inches: of all frames, of one at least and most
_GAP, _HEAD, _SHAPE = 0.12, 0.19, 1.5  # inches between skills, above them; width to height of all
_BETWEEN: Final = 0.03  # inches between the frames of a skill
_TITLE: Final = 7.5  # points
_FAINT: Final = 0.4  # opacity of a skill that ends where an earlier one does


class Tile(NamedTuple):
    """Some frames side by side."""

    title: str
    frames: Sequence[Any]  # [H, W, 3] bytes each
    faint: bool = False


class Layout(NamedTuple):
    """Where tiles are, in inches."""

    across: int
    down: int
    frame: tuple[float, float]  # width and height
    tile: tuple[float, float]  # with the room around it

    @property
    def size(self) -> tuple[float, float]:
        """Of all of them."""
        return self.across * self.tile[0] - _GAP, self.down * self.tile[1]


def times(n_skills: int, horizon: int) -> list[int]:
    """The steps after which skills are seen: of many only the last."""
    shares = _SHARES if n_skills <= _FEW else _SHARES[-1:]
    return sorted({max(round(share * horizon), 1) for share in shares})


def layout(n_tiles: int, n_frames: int, aspect: float) -> Layout:
    """Tiles of ``n_frames`` frames, ``aspect`` the width of one by its height."""
    area = min(max(_AREA / (n_tiles * n_frames), _LEAST), _LARGEST)
    tall = math.sqrt(area / aspect)
    frame = (aspect * tall, tall)
    tile = (n_frames * (frame[0] + _BETWEEN) - _BETWEEN + _GAP, tall + _HEAD)
    across = math.ceil(math.sqrt(n_tiles * _SHAPE * tile[1] / tile[0]))
    down = math.ceil(n_tiles / min(max(across, 1), n_tiles))
    return Layout(math.ceil(n_tiles / down), down, frame, tile)


def sheet(axis: Axes, tiles: Sequence[Tile], where: Layout) -> None:
    """Draw ``tiles`` on ``axis``, which spans ``where.size`` inches."""
    from matplotlib.patches import Rectangle

    wide, tall = where.size
    axis.set_axis_off()
    for nth, tile in enumerate(tiles):
        left = where.tile[0] * (nth % where.across)
        top = where.tile[1] * (nth // where.across) + _HEAD
        axis.text(left, top - 0.03, tile.title, fontsize=_TITLE, va="bottom")
        for at, frame in enumerate(tile.frames):
            x, (width, height) = left + at * (where.frame[0] + _BETWEEN), where.frame
            axis.imshow(
                frame,
                extent=(x, x + width, top + height, top),
                alpha=_FAINT if tile.faint else 1.0,
                interpolation="antialiased",
                aspect="auto",
            )
            edge = Rectangle((x, top), width, height, fill=False, edgecolor=GREY, linewidth=0.4)
            edge.set_clip_on(False)
            axis.add_patch(edge)
    axis.set_xlim(0, wide)
    axis.set_ylim(tall, 0)
