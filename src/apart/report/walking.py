"""A skill walking on its map: frames of text for a terminal, frames of pixels for a GIF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

from apart.report import maps
from apart.runs.skills import Place, Skill
from apart.worlds import observed
from apart.worlds.world import Places, TableWorld, World

_PIXELS, _LEAST, _MOST = 480, 4, 40  # of the longer side; of a cell
_STEP_MS, _END_MS = 120, 1200


def arrival(path: Sequence[Place]) -> int:
    """Steps until a path does not move any more."""
    steps = len(path) - 1
    while steps > 0 and path[steps - 1] == path[-1]:
        steps -= 1
    return steps


def length(skill: Skill, places: Places) -> int:
    """Steps of its episode that show something, at least 1; without places all of them do."""
    path = skill.trajectory
    return max(arrival(path) if places.counted else len(path) - 1, 1)


def told(skill: Skill, places: Places) -> str:
    """What a skill does, in a line; without places only that it plays an episode."""
    steps, path = arrival(skill.trajectory), skill.trajectory
    if not places.counted:
        return f"skill {skill.index}: an episode of at most {len(path) - 1} steps"
    first, last = (
        _named(at) if isinstance(at, tuple) else f"{places.noun} {at}" for at in (path[0], path[-1])
    )
    return (
        f"skill {skill.index}: from {first} to {last} in {steps} of "
        f"{len(path) - 1} steps (the discriminator gives it {skill.probability:.2f})"
    )


def seen_last(skill: Skill, world: World | None) -> str:
    """What is observed where its episode ends; nothing on a plane, or where that was not kept."""
    seen = skill.last_observation
    if seen is None or skill.positions:
        return ""
    known = world.observed if isinstance(world, TableWorld) else None
    return observed.words(seen) if known is None else known.words(seen)


def listed(skill: Skill) -> str:
    """Its path until it stays where it is, a place a word."""
    path = skill.trajectory[: arrival(skill.trajectory) + 1]
    return " ".join(_named(place).replace(" ", "") for place in path)


SIGNS: Final = "@ where the skill is, o where it was, S its start"  # of `frame`


def _named(place: Place) -> str:
    return f"({', '.join(map(str, place))})" if isinstance(place, tuple) else str(place)


def frame(backdrop: Sequence[str], path: Sequence[Place], time: int) -> str:
    """The map after ``time`` steps: ``@`` the agent, ``o`` where it was, ``S`` its start."""
    been = {place[:2] for place in path[: time + 1]}

    def sign(r: int, c: int, wall: bool) -> str:
        if wall:
            return "██"
        if (r, c) == path[time][:2]:
            return "@ "
        if (r, c) == path[0][:2]:
            return "S "
        return "o " if (r, c) in been else "· "

    return "\n".join(
        "".join(sign(r, c, wall) for c, wall in enumerate(row)).rstrip()
        for r, row in enumerate(maps.walls(backdrop).tolist())
    )


def gif(backdrop: Sequence[str], path: Sequence[Place]) -> bytes:
    """The walk as an animation that repeats; it pauses at the end."""
    side = min(max(_PIXELS // max(len(backdrop), len(backdrop[0])), _LEAST), _MOST)
    return animation([_picture(backdrop, path, t, side) for t in range(arrival(path) + 1)])


def animation(pictures: Sequence[Any]) -> bytes:
    """A GIF of pictures, one a step, that repeats."""
    from PIL import Image

    some = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]  # whose colours all have
    wide, tall = some[0].size
    sheet = Image.new("RGB", (wide, 3 * tall))
    for nth, picture in enumerate(some):
        sheet.paste(picture, (0, nth * tall))
    palette = sheet.convert("P", palette=Image.Palette.ADAPTIVE, colors=64)
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    data = io.BytesIO()
    flat[0].save(
        data,
        format="GIF",
        save_all=True,
        append_images=flat[1:],
        duration=[_STEP_MS] * (len(pictures) - 1) + [_END_MS],
        loop=0,
    )
    return data.getvalue()


def _picture(backdrop: Sequence[str], path: Sequence[Place], time: int, side: int) -> Any:
    from PIL import Image, ImageDraw

    made = Image.new("RGB", (side * len(backdrop[0]), side * len(backdrop)), maps.FLOOR)
    draw = ImageDraw.Draw(made)
    for r, row in enumerate(maps.walls(backdrop).tolist()):
        for c, wall in enumerate(row):
            if wall:
                draw.rectangle(
                    (c * side, r * side, (c + 1) * side - 1, (r + 1) * side - 1), maps.WALL
                )
    centres = [(side * (p[1] + 0.5), side * (p[0] + 0.5)) for p in path[: time + 1]]
    if time:
        draw.line(centres, maps.PATH, max(side // 6, 1), joint="curve")
    disc(draw, centres[0], side / 5, maps.START)
    disc(draw, centres[-1], side / 3, maps.END)
    return made


def disc(draw: Any, centre: tuple[float, float], radius: float, colour: str) -> None:
    """A filled circle."""
    (x, y), r = centre, radius
    draw.ellipse((x - r, y - r, x + r, y + r), colour)
