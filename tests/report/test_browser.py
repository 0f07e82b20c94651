"""The explorer page in a real browser: every control does what it says, by mouse and keyboard."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import browser
import hostile
import numpy as np
import pytest

import apart
from apart.report import page, statistics, strips
from apart.running.progress import several
from apart.skills.policies import policies_of
from apart.worlds import observed, tables

PROGRAM = browser.find()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium on this machine: the page is not tried in a browser"
)
# Eight cells around a wall; ten skills, so that two are spare.
RING = apart.parse_map("S..\n.#.\n...", "little_ring")
SMALL = {"steps": 3000, "skills": 10, "horizon": 8, "evaluate_every": 500}
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two seeds of one method, one of another."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        apart.train(RING, method="apart_plus", seed=seed, out=folder / f"plus-{seed}", **SMALL)
    apart.train(RING, method="diayn", out=folder / "diayn", buffer=400, batch=16, **SMALL)
    return folder


@pytest.fixture(scope="module")
def runs(folders):
    return [apart.load(folders / name) for name in ("plus-0", "plus-1", "diayn")]


@pytest.fixture(scope="module")
def file(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    page.write(runs, path)
    return path


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """One browser for all tests."""
    made = browser.Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def drawn(tab, file, width=1280, height=900, dark=False):
    tab.size(width, height, dark)
    tab.open(file)
    tab.wait("document.documentElement.dataset.ready === 'yes'")
    return tab


@pytest.fixture
def shown(tab, file):
    """The page, fresh; whatever a test does, its console stays empty."""
    yield drawn(tab, file)
    assert tab.said == []
    assert tab.requests == [file.resolve().as_uri()]


def text(tab, selector):
    return tab.run(f"document.querySelector({json.dumps(selector)}).innerText")


def texts(tab, selector):
    selector = json.dumps(selector)
    return tab.run(f"[...document.querySelectorAll({selector})].map((e) => e.textContent)")


def fact(tab, part, name):
    """A value in the list of names and values of a part of the page."""
    return tab.run(
        f"[...document.querySelectorAll('#{part} .facts div')]"
        f".find((d) => d.firstChild.textContent === {json.dumps(name)})?.lastChild.textContent"
    )


def choose(tab, selector, value):
    """As a person would with a list of choices."""
    tab.run(
        f"(() => {{ const s = document.querySelector({json.dumps(selector)});"
        f" s.value = {json.dumps(str(value))}; s.dispatchEvent(new Event('change')); }})()"
    )


def slide(tab, selector, value):
    tab.run(
        f"(() => {{ const s = document.querySelector({json.dumps(selector)});"
        f" s.value = {value}; s.dispatchEvent(new Event('input')); }})()"
    )


def press(tab, part, cell):
    """A click on a cell (row, column) of the map in a part of the page."""
    row, column = cell
    at = tab.run(
        f"(() => {{ const m = document.querySelector('#{part} svg.map');"
        " m.scrollIntoView({block: 'center', behavior: 'instant'});"
        f" const p = new DOMPoint({column + 0.5}, {row + 0.5}).matrixTransform(m.getScreenCTM());"
        " return [p.x, p.y]; })()"
    )
    tab.press_at(*at)


KNOWN = {}


def judged(run):
    """The policies of a run, read once."""
    if run.path not in KNOWN:
        KNOWN[run.path] = policies_of(run)
    return KNOWN[run.path]


def walk(run, skill, start):
    """The last state of an episode of the checkpoint's policy."""
    action, state = judged(run).action, start
    for _ in range(run.config["horizon"]):
        state = int(run.world.next_state[state, action[state, skill], 0])
    return state


def named(cell):
    return f"row {cell[0]}, column {cell[1]}"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_it_fits_every_screen(tab, file, width, dark, tmp_path):
    drawn(tab, file, width, 900, dark)
    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run("document.querySelectorAll('section').length") == 10
    # Text can be told from its ground (WCAG AA: 4.5 to 1).
    contrast = """(() => {
      const light = (c) => {
        const [r, g, b] = c.match(/\\d+/g).slice(0, 3).map((v) => v / 255)
          .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      return [...document.querySelectorAll('h2, .words, label, dt, dd, nav a, td, button.main')]
        .map((e) => { const s = getComputedStyle(e); let g = e;
          while (getComputedStyle(g).backgroundColor === 'rgba(0, 0, 0, 0)') g = g.parentElement;
          const two = [light(s.color), light(getComputedStyle(g).backgroundColor)];
          return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05); })
        .reduce((a, b) => Math.min(a, b)); })()"""
    assert tab.run(contrast) > 4.5
    tab.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert tab.said == []


def test_a_click_on_a_cell_gives_the_skill_that_owns_it(shown, runs):
    for cell in ((0, 2), (2, 2), (2, 0)):
        press(shown, "skills", cell)
        ends = [s for s in runs[0].skills if s.last_state == cell]
        owner = min(ends, key=lambda s: s.index)
        assert f"Skill {owner.index} ends in {named(cell)}." in text(shown, "#skills .said")
        assert shown.run("document.querySelector('#skills input').value") == str(owner.index)
        assert fact(shown, "skills", "ends in") == named(cell)
    press(shown, "skills", (1, 1))  # a wall
    assert named((2, 0)) in text(shown, "#skills .said")
    lines = "document.querySelectorAll('#skills polyline').length"
    assert shown.run(lines) == 11
    shown.click("#skills input[type=checkbox]")
    assert shown.run(lines) == 1


def test_the_skill_can_be_typed_and_stepped(shown):
    value = "document.querySelector('#skills input[type=number]').value"
    choose(shown, "#skills input[type=number]", 4)
    shown.click("#skills .stepper button", 1)
    assert shown.run(value) == "5"
    choose(shown, "#skills input[type=number]", 0)
    shown.click("#skills .stepper button", 0)
    assert shown.run(value) == "9"
    choose(shown, "#skills input[type=number]", 99)
    assert shown.run(value) == "9"
    assert shown.run("document.querySelector('#discriminator input').value") == "9"


def test_tiles_are_sorted_marked_filtered_and_chosen(shown, runs):
    numbers = [int(re.match(r"\d+", name)[0]) for name in texts(shown, ".tiles .tile")]
    places = [runs[0].skills[n].last_state for n in numbers]
    assert places == sorted(places)
    again = 10 - runs[0].n_effective
    kind = ".spare" if runs[0].n_effective == runs[0].n_available else ".repeated"
    assert shown.run(f"document.querySelectorAll('.tiles .tile{kind}').length") == again
    choose(shown, "#tiles select", "again")
    assert shown.run("document.querySelectorAll('.tiles .tile').length") == again
    choose(shown, "#tiles select", "owner")
    assert shown.run("document.querySelectorAll('.tiles .tile').length") == runs[0].n_effective
    shown.click(".tiles .tile", 3)
    chosen = shown.run("document.querySelector('.tiles [aria-pressed=true]').innerText")
    assert shown.run("document.querySelector('#skills input').value") == chosen.split()[0]


def test_a_skill_plays_pauses_and_scrubs(shown):
    choose(shown, "#play select", 40)
    shown.click("#play button.main")
    assert text(shown, "#play button.main") == "Pause"
    shown.wait("document.querySelector('#play output').innerText === 'step 8 of 8'")
    shown.wait("document.querySelector('#play button.main').innerText === 'Play'")
    slide(shown, "#play input[type=range]", 3)
    assert text(shown, "#play output") == "step 3 of 8"
    shown.click("#play .bar button", 1)
    assert text(shown, "#play output") == "step 2 of 8"
    shown.click("#play .bar button", 2)
    shown.click("#play .bar button", 2)
    assert text(shown, "#play output") == "step 4 of 8"
    choose(shown, "#play select", 300)
    slide(shown, "#play input[type=range]", 0)
    shown.click("#play button.main")
    shown.wait("document.querySelector('#play output').innerText !== 'step 0 of 8'")
    shown.click("#play button.main")
    held = text(shown, "#play output")
    assert text(shown, "#play button.main") == "Play"
    assert text(shown, "#play output") == held != "step 8 of 8"


def test_two_skills_side_by_side_from_other_starts(shown, runs):
    assert shown.run("document.querySelectorAll('#play svg.map').length") == 1
    shown.click("#play input[type=checkbox]")
    assert shown.run("document.querySelectorAll('#play svg.map').length") == 2
    choose(shown, "#play input[type=number]", 3)
    for cell in ((2, 2), (0, 1)):
        press(shown, "play", cell)
        end = walk(runs[0], 3, RING.state(cell))
        said = text(shown, "#play .walker .said")
        assert said == f"Skill 3 from {named(cell)}: ends in {named(RING.cell(end))}."
    shown.click("#play .walker button:not(.stepper button)")
    assert f"Skill 3 from {named((0, 0))}" in text(shown, "#play .walker .said")


def test_goals_are_reached_or_not_as_the_library_says(shown, runs):
    """The page picks the skill that `apart reach` picks, and it comes there or not."""
    run, comes, ends = runs[2], 0, 0
    choose(shown, "header select", 2)
    for start in range(RING.n_states):
        paths = [run.skills.rollout(z, start=RING.cell(start)) for z in range(10)]
        comes += len({place for path in paths for place in path})
        ends += len({path[-1] for path in paths})
        for goal in range(RING.n_states):
            if (start, goal) not in ((7, 2), (0, 5), (4, 4), (1, 6)):
                continue
            best = run.skills.reach(RING.cell(goal), start=RING.cell(start))
            shown.click("#goal input[value=start]")
            press(shown, "goal", RING.cell(start))
            shown.click("#goal input[value=goal]")
            press(shown, "goal", RING.cell(goal))
            assert ("✓ reached" in text(shown, "#goal .verdict")) == (best.probability == 1)
            assert fact(shown, "goal", "from") == named(RING.cell(start))
            if best.probability == 0:
                assert fact(shown, "goal", "skill") == "none reaches it"
                continue
            assert fact(shown, "goal", "skill") == str(best.skill)
            assert fact(shown, "goal", "ends in") == named(paths[best.skill][-1])
            steps = paths[best.skill].index(RING.cell(goal))
            assert fact(shown, "goal", "reached after") == f"{steps} steps"
    assert f"reaches the goal in {comes} of all 64 " in text(shown, "#goal .side")
    assert f"ends there in {ends} " in text(shown, "#goal .side")
    press(shown, "goal", RING.cell(7))  # where it begins: every skill is there
    shown.click("#goal .said button")
    chosen = fact(shown, "goal", "skill")
    assert shown.run("document.querySelector('#play input[type=number]').value") == chosen


def test_the_discriminator_in_three_views(shown, runs):
    found = judged(runs[2])
    choose(shown, "header select", 2)
    choose(shown, "#discriminator input[type=number]", 4)
    squares = "document.querySelectorAll('#discriminator svg.map > g:nth-child(2) rect').length"
    choose(shown, "#discriminator select", "reward")
    assert shown.run(squares) == RING.n_states
    choose(shown, "#discriminator select", "rival")
    numbers = texts(shown, "#discriminator text")
    assert [int(n) for n in numbers] == found.rival[:, 4].tolist()
    choose(shown, "#discriminator select", "posterior")
    press(shown, "discriminator", (2, 1))
    state = RING.state((2, 1))
    assert float(fact(shown, "discriminator", "posterior")) == pytest.approx(
        found.posterior[state, 4], abs=0.01
    )
    low, high = found.reward.min(), found.reward.max()
    assert float(fact(shown, "discriminator", "reward").replace(",", "")) == pytest.approx(
        found.reward[state, 4], abs=0.06 * (high - low)
    )
    assert fact(shown, "discriminator", "rival").startswith(f"skill {found.rival[state, 4]} ")


def test_the_slider_moves_through_training(shown, runs):
    history = runs[0].history
    for at, moment in enumerate(history):
        slide(shown, "#training input", at)
        ends = moment["last_states"]
        assert text(shown, "#training .verdict") == f"after {moment['env_steps']:,} steps"
        assert fact(shown, "training", "places with a skill") == str(len(set(ends)))
        if at:
            before = history[at - 1]["last_states"]
            assert fact(shown, "training", "won") == str(len(set(ends) - set(before)))
            assert fact(shown, "training", "lost") == str(len(set(before) - set(ends)))
            moved = sum(one != other for one, other in zip(ends, before, strict=True))
            assert fact(shown, "training", "skills that moved") == str(moved)
    shown.click("#training button.main")
    last = f"after {history[-1]['env_steps']:,} steps"
    shown.wait(f"document.querySelector('#training .verdict').innerText !== '{last}'")
    shown.wait(f"document.querySelector('#training .verdict').innerText === '{last}'")
    shown.wait("document.querySelector('#training button.main').innerText === 'Play'")


def test_curves_have_means_intervals_and_lines(shown, runs):
    names = shown.run("[...document.querySelectorAll('#curves option')].map(e => e.value)")
    assert names[:2] == ["n_effective", "coverage"]
    assert {"discriminator_accuracy", "mean_reward", "mutual_information"} <= set(names)
    levels = texts(shown, "#curves .level-name")
    walk_ = runs[0].summary["n_random_walk"]
    assert levels == ["possible 8", f"random walk {float(f'{walk_:.3g}'):g}"]
    for name in names:
        choose(shown, "#curves select", name)
        shown.wait("document.querySelectorAll('#curves polyline.curve').length > 0")
    choose(shown, "#curves select", "n_effective")
    shown.wait("document.querySelectorAll('#curves polyline.curve').length === 2")
    shown.click("#curves summary")
    rows = shown.run(
        "[...document.querySelectorAll('#curves tbody tr')].map(r => [...r.children]"
        ".map(c => c.innerText))"
    )
    last = [row for row in rows if row[0] == "apart_plus"][-1]
    mean = statistics.mean([run.n_effective for run in runs[:2]])
    np.testing.assert_allclose([float(x) for x in last[2:]], mean, rtol=1e-3)
    shown.wait("document.querySelectorAll('#accuracy polyline.curve').length === 2")
    shown.run(
        "document.querySelector('#curves svg').dispatchEvent(new PointerEvent('pointermove', "
        "{clientX: 400, clientY: 10}))"
    )
    assert "apart_plus at " in text(shown, "#curves figcaption")


def test_runs_are_compared_and_opened(shown, runs):
    rows = shown.run(
        "[...document.querySelectorAll('#compare tbody tr')].map(r => r.innerText.split('\\t'))"
    )
    assert [row[0] for row in rows] == ["apart_plus", "diayn"]
    assert rows[0][7] == ", ".join(str(run.spread["radius"]) for run in runs[:2])
    assert rows[0][8] == ", ".join(str(run.n_effective) for run in runs[:2])
    shown.click("#compare .tile", 1)
    assert text(shown, "h1") == "diayn in little_ring"
    assert f"{runs[2].n_effective} of 8 possible" in text(shown, ".summary")
    assert "(exact)" in text(shown, ".summary")
    assert shown.run("document.querySelector('header select').value") == "2"
    choose(shown, "header select", 1)
    assert "Seed 1" in text(shown, ".summary")
    assert fact(shown, "about", "folder") == str(runs[1].path)
    assert fact(shown, "about", "learning_rate") == "0.5"
    assert "--seed 1" in text(shown, "#about pre")
    assert fact(shown, "about", "jax")


def test_light_and_dark_by_system_and_by_button(tab, file):
    ground = "getComputedStyle(document.body).backgroundColor"
    drawn(tab, file)
    light = tab.run(ground)
    assert text(tab, "header button") == "Dark"
    tab.click("header button")
    dark = tab.run(ground)
    assert dark != light
    assert text(tab, "header button") == "Light"
    tab.click("header button")
    assert tab.run(ground) == light
    drawn(tab, file, dark=True)
    assert tab.run(ground) == dark


def test_everything_can_be_done_by_keyboard(shown):
    order = []
    for _ in range(200):
        shown.key("Tab")
        here = shown.run(
            "(() => { const e = document.activeElement; const s = e.closest('section');"
            " return [e.tagName.toLowerCase(), s ? s.id : '',"
            " getComputedStyle(e).outlineStyle !== 'none']; })()"
        )
        if here[0] == "body":
            break
        order.append(here)
    assert all(outline for *_, outline in order)  # the focus can be seen
    parts = [part for _, part, _ in order if part]
    assert list(dict.fromkeys(parts)) == [
        *("skills", "tiles", "play", "goal", "discriminator", "training", "curves"),
        *("accuracy", "compare", "about"),
    ]
    assert sum(1 for tag, part, _ in order if (tag, part) == ("button", "tiles")) == 1
    for part in ("skills", "play", "goal", "discriminator"):
        assert ["svg", part, True] in order
    shown.run("document.querySelector('#skills svg.map').focus()")
    for name in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        shown.key(name)
    assert named((1, 2)) in text(shown, "#skills .said")
    shown.run("document.querySelector('.tiles .tile').focus()")
    shown.key("ArrowRight")
    name = "document.activeElement.innerText.split(' ')[0].trim()"
    second = shown.run(name)
    shown.key("Enter")
    assert shown.run("document.querySelector('#skills input').value") == second.split()[0]
    shown.run("document.querySelector('#play input[type=range]').focus()")
    shown.key("ArrowRight")
    assert text(shown, "#play output") == "step 1 of 8"


def test_nothing_external_and_no_other_script_is_let_in(tab, file):
    drawn(tab, file)
    tab.run(
        "(() => { window.blocked = []; document.addEventListener('securitypolicyviolation',"
        " (e) => window.blocked.push(e.effectiveDirective));"
        " const add = (name, more) => document.body.append("
        "   Object.assign(document.createElement(name), more));"
        " add('img', {src: 'http://127.0.0.1:9/x.png'});"
        " add('script', {src: 'http://127.0.0.1:9/x.js'});"
        " add('script', {textContent: 'window.hacked = 1'});"
        " add('style', {textContent: 'body { display: none }'});"
        " add('iframe', {src: 'http://127.0.0.1:9/'});"
        " fetch('http://127.0.0.1:9/').catch(() => {}); })()"
    )
    tab.wait("window.blocked.length >= 6")
    assert set(tab.run("window.blocked")) == {
        *("img-src", "script-src-elem", "style-src-elem", "frame-src", "connect-src")
    }
    assert tab.run("window.hacked") is None
    assert tab.run("getComputedStyle(document.body).display") == "block"


def test_hostile_names_are_shown_as_they_are(tab, tmp_path):
    world = apart.parse_map("S..\n...", HOSTILE)
    run = apart.train(world, method="apart_plus", out=tmp_path / "<b>run</b>", **SMALL)
    page.write([run], tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    assert text(tab, "h1") == f"apart_plus in {HOSTILE}"
    assert tab.run("window.hacked") is None
    assert tab.run("document.querySelectorAll('img, b, iframe').length") == 0
    assert tab.run("document.querySelectorAll('script').length") == 2
    assert "<b>run</b>" in fact(tab, "about", "folder")
    assert tab.said == []


def test_worlds_without_a_map_with_chance_and_without_history(tab, tmp_path):
    moved = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    chain = tables.build("chain", moved, horizon=8)
    slip = apart.parse_map("S..\n...", "slippery", slip=0.2)
    for name, world in (("chain", chain), ("slip", slip)):
        apart.train(world, method="apart_plus", out=tmp_path / name, **SMALL)
    old = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished" / "apart"
    shutil.copytree(old, tmp_path / "old")
    shutil.rmtree(tmp_path / "old" / "checkpoints")
    made = [apart.load(tmp_path / name) for name in ("chain", "slip", "old")]
    page.write(made, tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    assert fact(tab, "skills", "ends in").startswith("state ")
    press(tab, "goal", (1, 1))
    assert fact(tab, "goal", "goal") == "state 3"
    choose(tab, "header select", 1)
    press(tab, "goal", (1, 2))
    best = made[1].skills.reach((1, 2))
    assert fact(tab, "goal", "skill") == str(best.skill)
    chance = fact(tab, "goal", "reaches it")
    assert float(re.search(r"\d+", chance)[0]) == pytest.approx(100 * best.probability, abs=1)
    choose(tab, "header select", 2)
    assert "did not store" in text(tab, "#training .said")
    assert "no checkpoint" in text(tab, "#discriminator .side")
    press(tab, "play", (2, 2))
    assert "no checkpoint" in text(tab, "#play .walker .said")
    assert tab.said == []


def test_without_places_nothing_is_said_of_them(tab, runs, tmp_path):
    hostile.healed(False)
    options = {**SMALL, "steps": 200, "skills": 4, "network": "mlp:8", "batch": 16, "buffer": 600}
    walk = apart.train("gym:hostile:Walk-v0", method="diayn", out=tmp_path / "walk", **options)
    page.write([walk, runs[0]], tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    places = ("#skills", "#tiles", "#goal", "#training", "#play .panel", "#play .said")
    links = ('nav a[href="#skills"]', 'nav a[href="#goal"]')

    def hidden():
        tall = "document.querySelector({}).offsetHeight"
        return [tab.run(tall.format(json.dumps(name))) == 0 for name in (*places, *links)]

    assert all(hidden())
    said = text(tab, "main")
    assert "ends in" not in said
    assert "reached" not in said
    assert "apart draw --frames" not in said  # it renders nothing
    assert observed.words(walk.skills[0].last_observation) in text(tab, "#play")
    assert tab.run("document.querySelectorAll('#compare .tile').length") == 1
    choose(tab, "header select", 1)
    assert not any(hidden())
    # With frames every skill has a tile, without words about its end.
    shade, which = np.array([[10, 20, 30]]), np.zeros((4, 2), np.int32)
    strips.keep(walk, strips.Strips([0, 1, 2, 3], [0, 8], shade, np.zeros((1, 2, 4), int), which))
    page.write([walk], tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    assert texts(tab, "#tiles .tile") == ["0", "1", "2", "3"]
    assert "Sorted by" not in text(tab, "#tiles")
    assert tab.said == []


@pytest.fixture(scope="module")
def maze(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maze") / "run"
    options = {"steps": 600, "skills": 4, "hold": 20, "network": "mlp:8", "evaluate_every": 200}
    return apart.train("maze:u", method="diayn", out=folder, batch=8, **options)


def line(tab, selector):
    """The points of a drawn line."""
    found = tab.run(f"document.querySelector({json.dumps(selector)}).getAttribute('points')")
    return np.array([[float(x) for x in point.split(",")] for point in found.split(" ")])


def test_a_plane_shows_walls_positions_and_what_it_cannot(tab, maze, tmp_path):
    page.write([maze], tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    plane, box = maze.world.places.plane, "document.querySelectorAll('#skills svg.map"
    assert tab.run(f"{box} .wall').length") == len(plane.solid)
    assert tab.run(f"{box} .border').length") == len(plane.walls)
    choose(tab, "#skills input[type=number]", 2)
    x, y = np.array(maze.skills[2].positions).T
    flipped = np.stack([x, plane.extent[3] - y], 1)  # y points downwards on a screen
    for part in ("#skills .path.chosen", "#play .path.ahead"):
        np.testing.assert_allclose(line(tab, part), flipped, atol=1e-5)
    slide(tab, "#play input[type=range]", 37)
    np.testing.assert_allclose(line(tab, "#play .path.chosen"), flipped[:38], atol=1e-5)
    agent = "document.querySelector('#play .agent')"
    at = tab.run(f"['cx', 'cy'].map((name) => Number({agent}.getAttribute(name)))")
    np.testing.assert_allclose(at, flipped[37], atol=1e-5)
    # A goal: the skill that comes there; nothing can begin elsewhere.
    goal = maze.skills[2].last_state
    press(tab, "goal", goal)
    assert "✓ reached" in text(tab, "#goal .verdict")
    chosen = maze.skills[int(fact(tab, "goal", "skill"))]
    steps = chosen.trajectory.index(goal)
    assert fact(tab, "goal", "reached after") == several(steps, "step")
    assert tab.run("document.querySelector('#goal .bar').offsetHeight") == 0
    # What needs a table of states is not shown.
    assert tab.run("document.querySelector('#discriminator').offsetHeight") == 0
    assert "from the start only" in text(tab, "#skills .said")
    ends = len({skill.last_state for skill in maze.skills})
    assert fact(tab, "training", "places with a skill") == str(ends)
    radius = maze.spread["radius"]  # between buckets that are neighbours
    choose(tab, "#curves select", "covering_radius")
    tab.click("#curves summary")
    assert texts(tab, "#curves tbody tr:last-child td")[1] == str(radius)
    assert fact(tab, "about", "hold") == "20"
    assert "--hold 20" in text(tab, "#about pre")
    assert text(tab, "#about").count("config.json") == 0
    assert tab.said == []


def test_bins_are_named_and_an_unfinished_run_says_so(tab, tmp_path):
    options = {"steps": 400, "skills": 3, "network": "mlp:8", "horizon": 20, "batch": 8}
    folder = tmp_path / "run"
    run = apart.train("gym:CartPole-v1", method="diayn", out=folder, **options)
    for name in ("summary.json", "skills.json"):
        (folder / name).unlink()
    apart.write_page(folder, out=tmp_path / "page.html")
    drawn(tab, tmp_path / "page.html")
    assert texts(tab, "#skills .scales") == [
        *("\u22120.21", "pole angle (rad)", "0.21", "\u22122.4", "cart position", "2.4")
    ]
    assert texts(tab, "#tiles .scales") == []
    row, column = run.skills[0].last_state
    low, high = (0.2095 - 0.0419 * (row + n) for n in (1, 0))
    said = fact(tab, "skills", "ends in").replace("\u2212", "-")
    inner = 0 < row < 9
    words = f"pole angle {low:.2f} to {high:.2f} rad" if inner else "pole angle "
    assert said.startswith(words.replace("0.00", "0").replace("-0 ", "0 "))
    assert "cart position" in said
    press(tab, "goal", (row, column))  # a click means the same place
    assert fact(tab, "goal", "goal").replace("\u2212", "-") == said
    made = run.summary["env_steps"]
    assert text(tab, ".summary strong").strip() == f"Unfinished: {made} of 400 steps."
    assert tab.said == []


def test_frames_of_a_skill_stand_below_it(tab, maze, tmp_path):
    palette = np.array([[10, 20, 30], [200, 100, 50]])
    sprites = np.zeros((3, 2, 4), np.int32)
    sprites[1, 0, 3] = sprites[2, 1, 0] = 1
    which = np.array([[0, 1], [0, 2]])
    strips.keep(maze, strips.Strips([2, 0], [0, 200], palette, sprites, which))
    page.write([maze], tmp_path / "page.html")
    (maze.path / "frames.json").unlink()
    drawn(tab, tmp_path / "page.html")
    items = "document.querySelectorAll('#play .strip li')"
    assert texts(tab, "#play .strip li") == ["step 0", "step 200"]
    pixels = tab.run(
        f"[...{items}].map((e) => {{ const c = e.querySelector('canvas');"
        " return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]; })"
    )
    for got, sprite in zip(pixels, (0, 2), strict=True):  # of skill 0
        seen = np.array(got).reshape(2, 4, 4)
        assert (seen[..., :3] == palette[sprites[sprite]]).all()
        assert (seen[..., 3] == 255).all()
    now = f"[...{items}].map((e) => e.classList.contains('now'))"
    assert tab.run(now) == [True, False]
    slide(tab, "#play input[type=range]", 200)
    assert tab.run(now) == [False, True]
    choose(tab, "#play input[type=number]", 1)  # of this one none are kept
    assert tab.run(f"{items}.length") == 0
    choose(tab, "#play input[type=number]", 2)
    assert tab.run(f"{items}.length") == 2
    assert tab.said == []
