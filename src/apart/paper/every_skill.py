"""Every learned skill drawn on a small map of its own, sorted by last state."""

from __future__ import annotations

from apart.paper import _judge as rule
from apart.paper._spec import CURVES, LONG, NAMES, SKILLS, Claim, Experiment, Results, each
from apart.report import draw, maps
from apart.worlds import grid

METHODS = {m: NAMES[m] for m in ("apart", "vic", "diayn")}
SHOWN = ("four_rooms", "empty")


def picture(results: Results) -> draw.Figure:
    """A block of small maps per method and world, of the first seed."""
    made, axes = draw.figure(len(SHOWN), len(METHODS), size=(9.4, 15.2))
    blocks = [(grid.load(name), method) for method in METHODS for name in SHOWN]
    for axis, (world, method) in zip(axes, blocks, strict=True):
        record, colour = results.runs[f"{method} {world.name}"][0], draw.STYLES[method][0]
        paths = [[(int(r), int(c)) for r, c in world.cells[list(s)]] for s in record.skills]
        maps.tiles(axis, world.places.backdrop, paths, 10, points=3.2, colour=colour, end=colour)
        found = f"{record.n_effective} of {record.n_available} last states"
        draw.title(axis, f"{METHODS[method]}, {world.name}: {found}", 10)
    made.suptitle(
        f"Every skill of seed 0 after {results.steps / 1e6:g}M steps, sorted by last state;\n"
        "numbers are latents, faint where an earlier skill ends in the same state",
        fontsize=11,
        y=0.995,
    )
    return made


def detours(results: Results) -> rule.Finding:
    """How many of APART's skills of the first seed come to their last state later than needed."""
    world = grid.load("four_rooms")
    skills = results.runs["apart four_rooms"][0].skills
    late = [s for s in skills if list(s).index(s[-1]) > world.distance[s[-1]]]
    return rule.judged(f"{len(late)} of {len(skills)} take a detour", late, "some do")


def overlaps(results: Results) -> rule.Finding:
    """Skills that end where another ends, per seed of APART in four rooms."""
    shared = [100 - record.n_effective for record in results.runs["apart four_rooms"]]
    ours = f"{', '.join(map(str, shared))} of 100 latents"
    return rule.judged(ours, min(shared) > 0, "in every seed")


EXPERIMENT = Experiment(
    title="Every learned skill, by last state",
    source="figures at the end of the appendix",
    conditions=each(METHODS, SHOWN),
    draw=picture,
    claims=[
        Claim("not all states are reached in the fastest way (four_rooms)", "not all", detours),
        Claim("a few skills overlap, as there are more latents than states", "always", overlaps),
    ],
    steps=CURVES,
    paper_steps=LONG,
    keeps=[SKILLS],
)
EXPERIMENTS = {"every_skill": EXPERIMENT}
