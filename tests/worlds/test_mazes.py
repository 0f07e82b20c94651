"""Continuous mazes: walls against a slow oracle, corners by hand, and what the package says."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reference.sliding import slide

import apart
from apart import worlds
from apart._errors import UserError
from apart.settings import resolve
from apart.worlds import mazes
from apart.worlds.mazes import MAZES, Where
from apart.worlds.observations import sight_of
from apart.worlds.world import ObsSpec

OPTIONS = {"method": "diayn", "steps": 240, "horizon": 20, "hold": 5, "skills": 3}
OPTIONS |= {"network": "mlp:8", "batch": 8, "buffer": 200, "epsilon": 0.5}
CELLS = {"bottleneck": 100, "u": 72, "square_bottleneck": 100, "a": 17, "tree": 31}
CELLS |= {"corridor": 11, "large": 100}
BLOCK = ["+-+-+", "|   |", "+ +-+", "|S| |", "+-+ +", "    |", "+-+-+"]


def walk(rows, where, *deltas):
    layout = mazes.read(rows, "test")
    state = Where(jnp.array(where[0], jnp.int32), jnp.array(where[1], jnp.float32))
    for delta in deltas:
        state = mazes.move(layout.ways, state, jnp.array(delta, jnp.float32))
    return tuple(state.cell.tolist()), tuple(round(x, 5) for x in state.inside.tolist())


@pytest.mark.parametrize("name", MAZES)
def test_buckets_are_a_table_of_neighbours(name):
    """Two buckets are neighbours where a short move leads from one to the other."""
    world = mazes.load(name)
    cells = world.cells
    layout = mazes.read(mazes.drawing(MAZES[name].drawing), name)
    assert cells.n_states == CELLS[name] == cells.n_available(CELLS[name])
    assert cells.places.label(np.array([cells.start])) == [list(cells.cell(cells.start))]
    rows, columns = cells.cells.T
    at = np.stack([columns, layout.free.shape[1] - 1 - rows], 1)
    middle = Where(jnp.asarray(at, jnp.int32), jnp.full(at.shape, 0.5))
    deltas = jnp.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)], jnp.float32)

    def reached(where, delta):
        return world.place(mazes.move(layout.ways, where, delta))

    everywhere = jax.vmap(jax.vmap(reached, (None, 0)), (0, None))
    np.testing.assert_array_equal(cells.next_state[:, :, 0], jax.jit(everywhere)(middle, deltas))


@pytest.mark.parametrize("name", MAZES)
def test_a_move_of_any_length_ends_where_the_oracle_says(name):
    layout = mazes.read(mazes.drawing(MAZES[name].drawing), name)
    rng, n = np.random.default_rng(0), 400
    cells = np.argwhere(layout.number >= 0)[rng.integers(len(layout.cells), size=n)]
    inside, deltas = rng.uniform(size=(n, 2)), rng.uniform(-1, 1, (n, 2))
    deltas[::4] = np.sign(deltas[::4])  # the longest moves
    deltas[1::4] = 0.95 * np.sign(deltas[1::4])
    deltas[2::8, 0] = 0.0
    start = Where(jnp.asarray(cells, jnp.int32), jnp.asarray(inside, jnp.float32))
    moved = jax.jit(jax.vmap(lambda w, d: mazes.move(layout.ways, w, d)))(
        start, jnp.asarray(deltas, jnp.float32)
    )
    got = np.asarray(jax.vmap(mazes.position)(moved))
    assert np.asarray(moved.inside).min() >= 0
    assert np.asarray(moved.inside).max() <= 1
    compared = stopped = 0
    for k in range(n):
        end, closest = slide(layout.plane.walls, cells[k] + inside[k], deltas[k])
        if closest > 1e-4:
            np.testing.assert_allclose(got[k], end, atol=1e-5)
            compared += 1
            stopped += np.abs(end - cells[k] - inside[k] - deltas[k]).max() > 1e-3
    assert compared > 0.95 * n
    assert stopped > 0.2 * n


@pytest.mark.parametrize("name", ["bottleneck", "u", "large", "tree"])
def test_no_walk_leads_through_a_wall_of_the_drawing(name):
    """Moves of a fifth of a cell meet corners exactly, again and again."""
    rows = mazes.drawing(MAZES[name].drawing)
    height = len(rows) // 2
    world = worlds.load(f"maze:{name}")
    layout = mazes.read(rows, name)
    moves = jax.random.randint(jax.random.key(0), (64, 300), 0, 9).repeat(5, axis=1)

    def path(actions):
        def step(state, action):
            after, _ = world.step(None, state, action)
            return after, after.cell

        return jax.lax.scan(step, world.reset(None), actions)[1]

    cells = np.asarray(jax.jit(jax.vmap(path))(moves))
    assert len(np.unique(layout.number[cells[..., 0], cells[..., 1]])) > 9
    assert layout.number[cells[..., 0], cells[..., 1]].min() >= 0

    def open_between(a, b):
        """Whether the drawing has nothing between two cells side by side."""
        r, c = (2 * (height - 1 - a[1]) + 1, 2 * a[0] + 1)
        r, c = r - (b[1] - a[1]), c + b[0] - a[0]
        return r % 2 != c % 2 and (rows[r][c] if c < len(rows[r]) else " ") == " "

    steps = {(*a, *b) for one in cells.tolist() for a, b in itertools.pairwise(one) if a != b}
    for ax, ay, bx, by in steps:
        if ax == bx or ay == by:
            assert open_between((ax, ay), (bx, by))
        else:
            ways = [((ax, ay), (bx, ay), (bx, by)), ((ax, ay), (ax, by), (bx, by))]
            assert any(open_between(p, q) and open_between(q, r) for p, q, r in ways)


def test_walls_stop_the_normal_part_and_let_the_rest_slide():
    assert walk(BLOCK, ((0, 1), (0.5, 0.5)), (0.6, 0.2)) == ((0, 1), (1.0, 0.7))
    assert walk(BLOCK, ((0, 1), (0.5, 0.5)), (-0.6, -0.7)) == ((0, 1), (0.0, 0.0))
    # Along the wall into the room above, whose side towards the right is open.
    assert walk(BLOCK, ((0, 1), (0.5, 0.5)), (0.7, 0.6)) == ((0, 2), (1.0, 0.1))
    assert walk(BLOCK, ((0, 1), (0.5, 0.5)), (0.7, 0.6), (0.3, 0)) == ((1, 2), (0.3, 0.1))
    assert walk(BLOCK, ((0, 1), (0.5, 0.5)), (0.7, 0.6), (-0.3, 0)) == ((0, 2), (0.7, 0.1))


def test_the_nearer_line_comes_first():
    # Up first, then to the right above the wall's end; or the wall first, and up along it.
    assert walk(BLOCK, ((0, 1), (0.5, 0.9)), (0.6, 0.3)) == ((1, 2), (0.1, 0.2))
    assert walk(BLOCK, ((0, 1), (0.9, 0.5)), (0.3, 0.6)) == ((0, 2), (1.0, 0.1))
    # Down from the upper right: a floor there, so that only the left is open.
    assert walk(BLOCK, ((1, 2), (0.5, 0.25)), (-0.75, -0.5)) == ((0, 2), (0.75, 0.0))
    assert walk(BLOCK, ((1, 2), (0.25, 0.5)), (-0.5, -0.75)) == ((0, 1), (0.75, 0.75))


def test_a_corner_that_is_hit_exactly_is_as_if_x_came_first():
    assert walk(BLOCK, ((0, 1), (0.75, 0.75)), (0.5, 0.5)) == ((0, 2), (1.0, 0.25))
    assert walk(BLOCK, ((1, 2), (0.25, 0.25)), (-0.5, -0.5)) == ((0, 1), (0.75, 0.75))
    # A point on a line belongs to the cell that it came from.
    assert walk(BLOCK, ((0, 2), (0.5, 0.5)), (0.5, 0.0)) == ((0, 2), (1.0, 0.5))
    assert walk(BLOCK, ((0, 2), (0.5, 0.5)), (0.5, 0.0), (0.25, 0.0)) == ((1, 2), (0.25, 0.5))


@pytest.mark.parametrize("name", MAZES)
def test_every_maze_says_what_it_is(name):
    world = worlds.load(f"maze:{name}")
    assert world.places.n == CELLS[name]
    assert world.about.n_actions == 9
    assert world.about.horizon == (200 if MAZES[name].move == 0.2 else 50)
    labels = world.places.label(np.arange(world.places.n))
    assert len({tuple(label) for label in labels}) == world.places.n
    start = world.reset(jax.random.key(0))
    row, column = labels[int(world.place(start))]
    lines = mazes.drawing(MAZES[name].drawing)
    assert lines[2 * row + 1][2 * column + 1] == "S"
    assert np.abs(np.asarray(world.observe(start))).max() < 1
    again = worlds.from_spec(json.loads(json.dumps(world.about.spec)), 7)
    assert again.about.horizon == 7
    assert again.about.spec == json.loads(json.dumps(world.about.spec))
    assert worlds.known_everywhere(world.about.spec)


def test_observations_are_positions_from_minus_one_to_one():
    world = worlds.load("maze:bottleneck")
    state = Where(jnp.array([9, 0], jnp.int32), jnp.array([1.0, 0.5], jnp.float32))
    np.testing.assert_allclose(world.observe(state), [1.0, -0.9], rtol=1e-6)
    np.testing.assert_allclose(world.position(state), [10.0, 0.5])
    assert world.places.label(np.array([int(world.place(state))])) == [[9, 9]]


def test_a_start_anywhere_in_its_cell():
    world = worlds.load("maze:u:start=random")
    starts = jax.vmap(world.reset)(jax.random.split(jax.random.key(1), 200))
    assert (np.asarray(starts.cell) == [0, 9]).all()
    inside = np.asarray(starts.inside)
    assert inside.min() < 0.1
    assert inside.max() > 0.9
    fixed = jax.vmap(worlds.load("maze:u").reset)(jax.random.split(jax.random.key(1), 3))
    assert (np.asarray(fixed.inside) == 0.5).all()


def test_more_values_in_each_direction():
    world = worlds.load("maze:u:bins=5")
    assert world.about.n_actions == 25
    assert world.name == "maze:u:bins=5"
    start, actions = world.reset(None), jnp.arange(25)
    moved = jax.vmap(lambda a: world.step(None, start, a)[0].inside)(actions)
    tenths = np.array(list(itertools.product(range(-2, 3), repeat=2))) / 10
    np.testing.assert_allclose(np.asarray(moved), 0.5 + tenths, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maze:bottelneck", "unknown maze 'bottelneck'; did you mean 'bottleneck'"),
        ("maze:", "unknown maze ''"),
        ("mase:u", "unknown kind of world 'mase'; did you mean 'maze'"),
        ("maze:u:begin=random", "unknown key 'begin'"),
        ("maze:u:start=randon", "unknown start 'randon'; did you mean 'random'"),
        ("maze:u:bins=1", "bins=1: give 2 to 101"),
        ("maze:u:bins=many", "bins=many: give 2 to 101"),
    ],
)
def test_wrong_names_are_said_in_one_line(text, message):
    with pytest.raises(UserError, match=message) as error:
        worlds.load(text)
    assert "\n" not in str(error.value)


def test_slip_is_for_maps():
    with pytest.raises(UserError, match="--slip is for maps"):
        worlds.load("maze:u", slip=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drawing": ["+-+", "|S|"]}, "odd number of lines"),
        ({"drawing": ["+-+-", "|S  ", "+-+-"]}, "lines of 4 characters"),
        ({"drawing": ["+-+", "|.|", "+-+"]}, "'.' is out of place"),
        ({"drawing": ["+-+", "- |", "+-+"]}, "'-' is out of place"),
        ({"drawing": ["+-+", "| |", "+-+"]}, "has 0 starts"),
        ({"drawing": [1, 2, 3]}, "odd number of lines"),
        ({"drawing": None}, "no drawing"),
        ({"move": 1.5}, "at most 1"),
        ({"move": "far"}, "at most 1"),
        ({"start": 3}, "unknown start"),
    ],
)
def test_a_damaged_spec_is_said_in_one_line(change, message):
    spec = {**worlds.load("maze:u").about.spec, **change}
    with pytest.raises(UserError, match=message):
        worlds.from_spec(spec, 200)


def test_skills_have_positions_and_a_picture(tmp_path):
    run = apart.train("maze:u", out=tmp_path / "run", **OPTIONS)
    assert run.n_available == 72
    for skill in apart.load(run.path).skills:
        assert len(skill.positions) == len(skill.trajectory) == 21
        assert skill.positions[0] == (0.5, 9.5)
        for (x, y), (row, column) in zip(skill.positions, skill.trajectory, strict=True):
            assert column - 1e-3 <= x <= column + 1 + 1e-3
            assert 9 - row - 1e-3 <= y <= 10 - row + 1e-3
        steps = np.abs(np.diff(np.array(skill.positions), axis=0))
        assert steps.max() <= 0.2 + 2e-3
    (picture,) = apart.draw(run)
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_bumps_are_seen_where_observations_are_positions():
    config, world = resolve("maze:u", "diayn", {"observation": "rbf"})
    sight = sight_of(world, config.observation)
    at = jnp.array([[0.0, 0.0], [-1.0, 0.6], [0.3, -0.3]])
    seen = np.asarray(sight.images(at)).reshape(3, 11, 11)
    assert np.unravel_index(seen[0].argmax(), (11, 11)) == (5, 5)
    assert np.unravel_index(seen[1].argmax(), (11, 11)) == (0, 8)
    np.testing.assert_allclose((seen[::2] ** 2).sum((1, 2)), 1.0, rtol=0.01)
    np.testing.assert_allclose(seen[0, 5, 5] / seen[0, 5, 6], np.exp(0.5), rtol=1e-4)
    weight = jax.random.normal(jax.random.key(0), (121, 4))
    np.testing.assert_allclose(sight.product(at, weight), seen.reshape(3, -1) @ weight, rtol=1e-4)
    with pytest.raises(UserError, match="--observation rbf does not fit four_rooms; use one_hot"):
        resolve("four_rooms", "diayn", {"observation": "rbf"})


def test_bumps_cover_a_plane_of_any_size_where_the_world_says_so():
    maze = worlds.load("maze:u")

    def in_metres(position, **scaled):
        obs = ObsSpec((2,), position=position, **scaled)
        return replace(maze, obs=obs, observe=lambda where: 5.0 + 5.0 * maze.observe(where))

    config, world = resolve(in_metres(True, offset=(5.0,), scale=(0.2,)), "apart_spread", {})
    assert config.observation == "rbf"
    seen = sight_of(world, "rbf").images(jnp.array([[5.0, 5.0], [0.0, 8.0]])).reshape(2, 11, 11)
    assert np.unravel_index(np.asarray(seen[0]).argmax(), (11, 11)) == (5, 5)
    assert np.unravel_index(np.asarray(seen[1]).argmax(), (11, 11)) == (0, 8)
    assert resolve(in_metres(False), "apart_spread", {})[0].observation == "fourier"
    unit = maze.places.plane._replace(extent=(-1.0, 1.0, -1.0, 1.0))
    small = replace(in_metres(False), places=maze.places._replace(plane=unit))
    assert resolve(small, "apart_spread", {})[0].observation == "rbf"


def test_waves_are_about_a_kernel_of_the_distance():
    config, world = resolve("maze:u", "diayn", {"observation": "fourier"})
    sight = sight_of(world, config.observation)
    at = jax.random.uniform(jax.random.key(0), (40, 2), minval=-1.0)
    seen = np.asarray(sight.images(at)).reshape(40, -1)
    far = np.linalg.norm(at[:, None] - at, axis=2)
    expected = np.exp(-0.5 * (far / 0.2) ** 2)
    assert np.abs(seen @ seen.T - expected).mean() < 0.1
    assert np.corrcoef((seen @ seen.T).ravel(), expected.ravel())[0, 1] > 0.8
    weight = jax.random.normal(jax.random.key(0), (seen.shape[1], 4))
    np.testing.assert_allclose(sight.product(at, weight), seen @ weight, rtol=1e-3, atol=1e-4)
    with pytest.raises(
        UserError, match="--observation fourier does not fit four_rooms; use one_hot"
    ):
        resolve("four_rooms", "diayn", {"observation": "fourier"})
