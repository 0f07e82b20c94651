"""Walls, states and tiles are where the map says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart.report import axes, draw, maps
from apart.worlds import grid
from apart.worlds.world import Axis, Places

MAP = ("S.#", "...")
cells = st.tuples(st.integers(0, 1), st.integers(0, 2))


def test_walls_are_where_the_map_has_them():
    assert maps.walls(MAP).tolist() == [[False, False, True], [False, False, False]]


@given(st.lists(st.lists(cells, min_size=1, max_size=3), min_size=1, max_size=8))
def test_skills_are_sorted_by_last_cell_and_only_repeated_ends_are_faint(paths):
    found = maps.by_last_state(paths)
    ends = [paths[number][-1] for number, _ in found]
    assert sorted(number for number, _ in found) == list(range(len(paths)))
    assert ends == sorted(ends)
    assert [again for _, again in found] == [end in ends[:i] for i, end in enumerate(ends)]


@pytest.mark.parametrize("across", [1, 2, 4])
def test_every_skill_has_its_tile_and_all_tiles_are_in_the_picture(across):
    paths = [[(0, 0), (0, 1)], [(0, 0), (1, 0), (1, 1), (1, 2)], [(0, 0), (0, 1)]]
    _, (axis,) = draw.figure()
    maps.tiles(axis, MAP, paths, across)
    assert sorted(text.get_text() for text in axis.texts) == ["0", "1", "2"]
    (lines, ends, starts) = axis.collections
    ground = np.ma.filled(axis.images[0].get_array(), np.nan)
    assert sorted(ground[ground > 0]) == [maps.FAINT, 1.0, 1.0]  # the wall of each tile
    assert (~np.isnan(ground)).sum() == 3 * 6
    assert [len(path) for path in lines.get_segments()] == [2, 2, 4]
    for column, row in np.concatenate([ends.get_offsets(), starts.get_offsets()]):
        assert ground[int(row), int(column)] == 0  # on the floor of a tile
    assert [colour[3] for colour in lines.get_colors()] == [1.0, maps.FAINT, 1.0]


def test_with_a_task_points_are_told_and_only_the_same_way_is_faint():
    paths = [[(0, 0), (0, 1), (1, 1)], [(0, 0), (1, 0), (1, 1)], [(0, 0), (0, 1), (1, 1)]]
    assert maps.by_last_state(paths) == [(0, False), (1, True), (2, True)]
    assert maps.by_last_state(paths, ways=True) == [(0, False), (2, True), (1, False)]
    _, (axis,) = draw.figure()
    maps.tiles(axis, MAP, paths, 3, goals=[(1, 1)], earned=[9.0, 4.0, 9.0])
    assert [text.get_text() for text in axis.texts] == ["0: 9 points", "2: 9 points", "1: 4 points"]
    (_, ends, _, goals) = axis.collections
    np.testing.assert_array_equal(ends.get_offsets(), goals.get_offsets())
    assert "worth points" in [handle.get_label() for handle in maps.legend(task=True)]
    assert "worth points" not in [handle.get_label() for handle in maps.legend()]


def test_bins_have_edges_names_and_values():
    rows, columns = Axis("angle", "rad", 1.0, -1.0, 2), Axis("position", "", -2.5, 0.0, 3)
    _, (axis,) = draw.figure()
    floor, paths = ["...", "..."], [[(0, 0), (0, 1)]] * 3
    maps.tiles(axis, floor, paths, 2)
    before = len(axis.collections)
    maps.scales(axis, rows, columns, n=3, across=2, head=2)
    (net,) = axis.collections[before:]
    assert len(net.get_segments()) == 3 * (3 + 4)
    words = [text.get_text() for text in axis.texts]
    assert {"angle (rad)", "position"} < set(words)
    assert words.count("\u22122.5") == 2  # below the lowest tile of each column
    assert axes.legend(Places(6, axes=(rows, columns), note="n")) == [
        "rows: angle (rad), 1 (top) to \u22121 (bottom)",
        "columns: position, \u22122.5 (left) to 0 (right)",
        "n",
    ]
    assert axes.legend(Places(6)) == []


def test_numbers_stand_on_their_states():
    from matplotlib.colors import LogNorm

    world = grid.parse("\n".join(MAP))
    _, (axis,) = draw.figure()
    numbers = np.arange(world.n_states, dtype=float)
    image = maps.values(axis, world.places.backdrop, world.cells, numbers, LogNorm(1, 10))
    shown = np.ma.filled(image.get_array(), np.nan)
    np.testing.assert_array_equal(shown, [[np.nan, 1.0, np.nan], [2.0, 3.0, 4.0]])
