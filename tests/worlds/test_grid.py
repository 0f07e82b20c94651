"""Maps: the numbers of the paper, breadth-first search against matrices, and bad maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart._errors import UserError
from apart.cli import main
from apart.worlds import exact, from_spec, grid
from apart.worlds.holding import held


@pytest.mark.parametrize(
    ("name", "free", "start", "horizon"),
    [
        ("four_rooms", 85, (8, 1), 40),
        ("empty", 100, (5, 5), 40),
        ("u_maze", 72, (1, 1), 40),
        ("classic_rooms", 104, (0, 0), 20),
    ],
)
def test_the_worlds_of_the_paper(name, free, start, horizon):
    world = grid.load(name)
    assert world.n_states == free
    assert world.n_available(horizon) == free
    assert tuple(world.cells[world.start]) == start
    assert world.about.horizon == horizon


PAPER = ("four_rooms", "empty", "u_maze", "classic_rooms")


@pytest.mark.parametrize("name", sorted(set(grid.maps()) - set(PAPER)))
def test_the_gallery_gives_every_cell_twice_the_time_it_needs(name):
    world = grid.load(name)
    assert world.about.horizon == 2 * world.distance.max()
    assert world.n_available(world.about.horizon) == world.n_states


def test_four_rooms_has_its_doors():
    rows = grid.load("four_rooms").places.backdrop
    assert [rows[r][c] for r, c in ((5, 2), (5, 8), (2, 5), (8, 5))] == list("....")
    assert rows[5].count("#") == 8
    assert [row[5] for row in rows].count("#") == 8


def test_actions_are_stay_left_right_up_down_and_walls_block():
    world = grid.parse("..\n.S")
    cell = {tuple(c): i for i, c in enumerate(world.cells.tolist())}
    assert world.next_state[cell[1, 1], :, 0].tolist() == [
        cell[1, 1],
        cell[1, 0],
        cell[1, 1],
        cell[0, 1],
        cell[1, 1],
    ]
    walled = grid.parse("#.\nS.")
    start = walled.start
    assert walled.next_state[start, :, 0].tolist() == [start, start, start + 1, start, start]


def test_available_depends_on_the_horizon_and_leaves_islands_out():
    world = grid.parse("S...#.")
    assert world.n_states == 4
    assert [world.n_available(t) for t in (1, 2, 3, 99)] == [2, 3, 4, 4]


maps = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.text("#.", min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(maps, st.data())
def test_distances_equal_powers_of_the_transition_matrix(rows, data):
    r = data.draw(st.integers(0, len(rows) - 1))
    c = data.draw(st.integers(0, len(rows[0]) - 1))
    rows[r] = rows[r][:c] + "S" + rows[r][c + 1 :]
    try:
        world = grid.parse("\n".join(rows))
    except UserError as error:
        assert "no free neighbour" in str(error)
        return
    reach = np.eye(world.n_states, dtype=bool)[world.start]
    for t in range(world.n_states + 1):
        assert reach.sum() == world.n_available(t)
        wider = reach.copy()
        wider[world.next_state[reach].reshape(-1)] = True
        reach = wider
    assert reach.all()


@given(st.text(max_size=60))
def test_any_text_is_a_map_or_one_line_of_error(text):
    try:
        assert grid.parse(text).n_states >= 2
    except UserError as error:
        assert "\n" not in str(error)


def test_blanks_at_the_end_of_lines_are_no_cells(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text("; words \n; horizon 7 \nS.. \t\n.#. \r\n...\n  \n")
    world = grid.load(str(path))
    assert world.places.backdrop == ("S..", ".#.", "...")
    assert world.about.horizon == 7
    with pytest.raises(UserError, match="line 2, column 1: ' '"):
        grid.parse("S..\n ..")


BAD = {
    "ragged": ("S..\n..", "line 2 has 2 cells but line 1 has 3"),
    "empty": ("", "empty"),
    "blank": ("\n\n", "empty"),
    "no start": ("...", "no start"),
    "a misspelled option": ("; words\n; horizn 20\nS.", "line 2: .*did you mean 'horizon'"),
    "words below the map": (
        "; words\nS.\n; more",
        "line 3: lines with ';' are allowed above the map",
    ),
    "unknown": ("S.x", "line 1, column 3: 'x'"),
    "one cell": ("S", "no free neighbour"),
    "walled in": ("S#.", "no free neighbour"),
    "blank line inside": ("S.\n\n..", "line 2 has 0 cells"),
    "too wide": ("S" + "." * 1000, "larger than 1000 x 1000"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_maps_say_what_is_wrong(name, tmp_path):
    text, message = BAD[name]
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        grid.load(str(path))


def test_files_that_are_no_maps(tmp_path):
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    huge = tmp_path / "huge"
    huge.write_text("\n".join(["." * 10_000] * 200))
    for path, message in (
        (binary, "not a text file"),
        (huge, "larger than"),
        (tmp_path, "not a map file"),
        (tmp_path / "none.txt", "no map file"),
    ):
        with pytest.raises(UserError, match=message):
            grid.load(str(path))


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'four_rooms'"):
        grid.load("four-room")


def test_windows_line_ends_and_byte_order_marks_are_fine(tmp_path):
    path = tmp_path / "map.txt"
    path.write_bytes("\ufeffS.\r\n..\r\n".encode())
    assert grid.load(str(path)).n_states == 4


@pytest.mark.parametrize("name", ["four_rooms", "u_maze", "comb"])
def test_random_walk_expectation_equals_simulation(name):
    world = grid.load(name)
    rng = np.random.default_rng(0)
    n, skills, horizon = 150, 100, 20
    state = np.full(n * skills, world.start)
    for _ in range(horizon):
        state = world.next_state[state, rng.integers(0, 5, len(state)), 0]
    simulated = np.mean([len(set(row)) for row in state.reshape(n, skills).tolist()])
    assert exact.random_walk_skills(world, horizon, skills) == pytest.approx(simulated, abs=1.5)
    slippery = grid.load(name, slip=0.7)  # of random actions: the same walk
    found = exact.random_walk_skills(slippery, horizon, skills)
    assert found == pytest.approx(exact.random_walk_skills(world, horizon, skills))


def test_slipping_takes_a_random_action():
    world = grid.parse("S..", slip=0.5)
    stay, right = world.probability[0, 0], world.probability[0, 2]
    np.testing.assert_allclose(stay, [0.6, 0.1, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(right, [0.1, 0.1, 0.6, 0.1, 0.1])
    assert world.next_state[0, 2].tolist() == [0, 0, 1, 0, 0]
    assert not world.deterministic
    assert grid.parse("S..").deterministic
    for wrong in (-0.1, 1.1):
        with pytest.raises(UserError, match="--slip"):
            grid.parse("S..", slip=wrong)


def test_a_world_can_be_built_from_its_spec():
    for slip in (0.0, 0.25):
        world = grid.load("comb", slip)
        again = from_spec(world.about.spec, 7)
        assert again.about.spec == world.about.spec
        assert again.about.horizon == 7
        np.testing.assert_array_equal(again.next_state, world.next_state)
        np.testing.assert_array_equal(again.probability, world.probability)
    with pytest.raises(UserError, match=r"unknown kind of world 'grdi'.*did you mean 'grid'"):
        from_spec({"kind": "grdi"}, 3)
    with pytest.raises(UserError, match="the map is not lines of text"):
        from_spec({"kind": "grid", "name": "x", "map": "S."}, 3)


def test_lines_above_a_map_are_words_and_its_horizon(tmp_path):
    path = tmp_path / "map.txt"
    path.write_text("; my map\n; horizon 12\n\nS..\n")
    world = grid.load(str(path))
    assert world.about.horizon == 12
    assert world.places.backdrop == ("S..",)
    path.write_text("; my map\nS..\n.\n")
    with pytest.raises(UserError, match="line 3 has 1 cells but line 2 has 3"):
        grid.load(str(path))
    path.write_text("; horizon soon\nS..\n")
    with pytest.raises(UserError, match="horizon soon"):
        grid.load(str(path))


def test_several_starts_count_alike():
    world = grid.parse("S..#S", "apart", horizon=1)
    assert world.starts == (0, 3)
    assert world.start == 0
    assert world.distance.tolist() == [0, 1, 2, 0]
    assert world.n_available(1) == 3  # two cells from the first, and the second start
    assert grid.parse("S..").starts == ()
    # One uniform step from either: 0 stays in 4 of 5, 3 in all
    expected = sum(1 - (1 - p) ** 2 for p in (0.4, 0.1, 0.5))
    assert abs(exact.random_walk_skills(world, 1, 2) - expected) < 1e-12
    again = grid.from_spec(world.about.spec, 1)
    assert again.starts == world.starts
    assert held(world, 2).distance.tolist() == [0, np.iinfo(np.int32).max, 1, 0]


@pytest.mark.parametrize(
    ("rows", "starts"), [("S..\n...", "in the same state"), ("S.S\n..S", "in any of 3 states")]
)
def test_check_says_where_episodes_start(rows, starts, tmp_path, capsys):
    path = tmp_path / "map.txt"
    path.write_text(rows)
    assert main(["check", str(path)]) == 0
    assert f"every episode starts {starts}\n" in capsys.readouterr().out
