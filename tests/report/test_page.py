"""The explorer page, read as text: what is in it, that it is whole, and that nothing can get in."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

import apart
from apart import worlds
from apart.cli import main
from apart.methods import METHODS
from apart.objective.discriminators import DISCRIMINATORS
from apart.objective.objectives import OBJECTIVES
from apart.report import page, page_groups, page_numbers, page_places, page_policies, statistics
from apart.runs import folder as run_folder
from apart.settings import resolve, words
from apart.skills.policies import Policies, policies_of
from apart.worlds import tables

OLD = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished"
CASES = sorted(path.name for path in OLD.iterdir())
RING = apart.parse_map("S..\n.#.\n...", "ring")
SMALL = {"steps": 600, "skills": 5, "horizon": 6, "evaluate_every": 96}
SAMPLED = {**SMALL, "batch": 16, "buffer": 200}
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>&amp;"


def written(path):
    """The data of a page."""
    text = path.read_text("utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found.group(1))


def unpacked(packed):
    data = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(data, np.dtype(packed["kind"])).reshape(packed["shape"])


def report(*runs, out):
    assert main(["report", *map(str, runs), "--out", str(out)]) == 0
    return written(out)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Two seeds of one method, one of another."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        apart.train(RING, method="apart_plus", seed=seed, out=folder / f"plus-{seed}", **SMALL)
    apart.train(RING, method="diayn", out=folder / "diayn", **SAMPLED)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_run_of_0_1_has_a_page(case, tmp_path, capsys):
    shutil.copytree(OLD / case, tmp_path / "run")
    assert main(["report", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert str(tmp_path / "run" / run_folder.REPORT) in said
    data = written(tmp_path / "run" / run_folder.REPORT)
    (run,) = data["runs"]
    stored = apart.load(tmp_path / "run")
    assert run["history"] is None  # 0.1 kept none
    assert run["found"] == stored.n_effective
    assert run["policy"] is not None
    assert run["accuracy"][-1]["values"] == stored.details[-1]["accuracy_per_step"]
    (world,) = data["worlds"]
    labels = [tuple(map(int, label.split(", "))) for label in world["labels"]]
    for path, skill in zip(unpacked(run["paths"]), stored.skills, strict=True):
        assert [labels[place] for place in path] == skill.trajectory
    assert [labels[place] for place in run["last"]] == [s.last_state for s in stored.skills]


def test_the_page_has_what_the_folders_say(seeds, tmp_path):
    folders = [seeds / name for name in ("plus-0", "plus-1", "diayn")]
    data = report(*folders, out=tmp_path / "page.html")
    runs = [apart.load(folder) for folder in folders]
    assert [group["runs"] for group in data["groups"]] == [[0, 1], [2]]
    assert [group["label"] for group in data["groups"]] == ["apart_plus", "diayn"]
    assert len(data["worlds"]) == 1  # shared
    expected = statistics.mean([run.n_effective for run in runs[:2]])
    assert data["groups"][0]["found"] == pytest.approx(expected)
    curve = data["groups"][0]["curves"]["n_effective"]
    assert curve["x"] == [row["env_steps"] for row in runs[0].metrics]
    for i, (one, two) in enumerate(zip(runs[0].metrics, runs[1].metrics, strict=True)):
        mean = statistics.mean([one["n_effective"], two["n_effective"]])
        found = [curve[part][i] for part in ("estimate", "low", "high")]
        np.testing.assert_allclose(found, mean, rtol=1e-5)
    for entry, run in zip(data["runs"], runs, strict=True):
        history = unpacked(entry["history"]["last"])
        assert history.tolist() == [moment["last_states"] for moment in run.history]
        assert entry["history"]["steps"] == [moment["env_steps"] for moment in run.history]
        assert entry["config"] == run.config
        assert entry["versions"]["jax"]


def test_policies_in_the_page_are_those_of_the_checkpoint(seeds, tmp_path):
    data = report(seeds / "plus-0", out=tmp_path / "page.html")
    found, policy = policies_of(apart.load(seeds / "plus-0")), data["runs"][0]["policy"]
    assert (unpacked(policy["action"]) == found.action).all()
    assert (unpacked(policy["rival"]) == found.rival).all()
    np.testing.assert_allclose(unpacked(policy["posterior"]) / 255, found.posterior, atol=0.002)
    low, high = policy["reward_range"]
    rewards = low + (high - low) * unpacked(policy["reward"]) / 255
    np.testing.assert_allclose(rewards, found.reward, atol=(high - low) / 500)
    assert (unpacked(data["worlds"][0]["next"]) == RING.next_state).all()


def test_the_policy_allows_this_script_and_this_style_and_nothing_else(seeds, tmp_path):
    report(seeds / "diayn", out=tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', text).group(1)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    for name, content in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "*" not in policy
    addresses = set(re.findall(r"[a-z]+://[^\s\"'`)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a language, not a place
    assert not re.search(r"<(img|link|iframe|object|embed|video|audio)\b", text)
    assert "innerHTML" not in script
    assert "eval(" not in script


def test_hostile_names_stay_text(tmp_path):
    world = apart.parse_map("S..\n...", HOSTILE)
    folder = tmp_path / "<script>window.hacked = 1<"
    apart.train(world, method="apart_plus", out=folder, **SMALL)
    data = report(folder, out=tmp_path / "page.html")
    assert data["worlds"][0]["name"] == HOSTILE
    assert data["runs"][0]["folder"] == str(folder)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("</script>") == 2
    assert "hacked = 1<" not in text


def test_templates_in_names_are_not_filled(tmp_path):
    world = apart.parse_map("S..\n...", "$script ${data} $$")
    apart.train(world, method="apart_plus", out=tmp_path / "run", **SMALL)
    data = report(tmp_path / "run", out=tmp_path / "page.html")
    assert data["worlds"][0]["name"] == "$script ${data} $$"


def test_without_checkpoints_the_page_says_why(tmp_path):
    shutil.copytree(OLD / "apart", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / run_folder.CHECKPOINTS)
    (run,) = report(tmp_path / "run", out=tmp_path / "page.html")["runs"]
    assert run["policy"] is None
    assert "no checkpoint" in run["policy_note"]


def test_eight_runs_fit_and_what_does_not_is_said(tmp_path, monkeypatch):
    """Of the paper's size, with policies that cannot be compressed."""
    rng = np.random.default_rng(0)
    noise = Policies(
        rng.integers(0, 5, (85, 100), np.int32),
        rng.random((85, 100)),
        rng.standard_normal((85, 100)),
        rng.integers(0, 100, (85, 100), np.int32),
    )
    monkeypatch.setattr(page, "policies_of", lambda run: noise)
    apart.train("four_rooms", method="apart_plus", steps=2000, out=tmp_path / "r-0")
    for n in range(1, 8):
        shutil.copytree(tmp_path / "r-0", tmp_path / f"r-{n}")
    folders = [tmp_path / f"r-{n}" for n in range(8)]
    data = report(*folders, out=tmp_path / "page.html")
    assert all(run["policy"] for run in data["runs"])
    size = (tmp_path / "page.html").stat().st_size
    assert size < 1_000_000
    one = len(json.dumps(data["runs"][0]["policy"]))
    monkeypatch.setattr(page_policies, "_MOST_POLICIES", int(2.5 * one))
    data = report(*folders, out=tmp_path / "page.html")
    assert [run["policy"] is not None for run in data["runs"]] == [True, True, *[False] * 6]
    assert "small" in data["runs"][-1]["policy_note"]
    assert (tmp_path / "page.html").stat().st_size < size - 5 * one


def test_runs_that_differ_in_an_option_are_told_apart_by_it(tmp_path):
    for rate in (0.1, 0.2):
        options = {**SAMPLED, "learning_rate": rate}
        apart.train(RING, method="diayn", out=tmp_path / f"of-{rate}" / "seed-0", **options)
    folders = [tmp_path / f"of-{rate}" / "seed-0" for rate in (0.1, 0.2)]
    data = report(*folders, out=tmp_path / "page.html")
    labels = [group["label"] for group in data["groups"]]
    assert labels == ["diayn (learning_rate 0.1)", "diayn (learning_rate 0.2)"]


def test_else_their_folders_tell_them_apart():
    many = [{"a": i, "b": i, "c": i, "seed": 0} for i in range(2)]
    assert page_groups._by_options(many) is None
    assert page_groups._by_options([{"a": 1}, {"a": 1}]) is None
    folders = [Path("runs/x/one/seed-0"), Path("runs/x/two/seed-0"), Path("runs/x/two/more/seed-0")]
    assert page_groups._by_folder(folders) == ["one", "two", "two/more"]
    assert page_groups._by_folder([Path("one"), Path("two")]) == ["one", "two"]


def test_policies_of_first_seeds_come_first():
    assert list(page_groups.first_seeds_first([[0, 1, 2], [3], [4, 5]])) == [0, 3, 4, 1, 5, 2]


def test_long_curves_are_thinned_with_both_ends():
    assert page_numbers.thinned(list(range(1000)), 5) == [0, 249, 499, 749, 999]
    assert page_numbers.thinned([1, 2, 3], 5) == [1, 2, 3]


def test_places_that_share_a_cell_divide_it():
    form, x, y, size = page_places._layout([(0, 0, 0), (0, 0, 1), (0, 1, 2)], ["S."])
    assert (form, size) == ("map", 0.5)
    assert list(zip(x, y, strict=True)) == [(0.25, 0.25), (0.75, 0.25), (1.25, 0.25)]


def test_places_without_a_map_are_squares_in_order():
    form, x, y, size = page_places._layout([3, 5, 8, 9, 11], [])
    assert (form, size) == ("list", 1.0)
    assert x == [0.5, 1.5, 2.5, 0.5, 1.5]
    assert y == [0.5, 0.5, 0.5, 1.5, 1.5]
    assert page_places._layout([(-2, 3), (4, 5)], [])[0] == "plane"


def test_what_skills_earn_of_a_task_is_in_the_page(tmp_path):
    run = apart.train(apart.parse_map("S.\n.9"), method="smerl", out=tmp_path / "run", **SMALL)
    data = report(tmp_path / "run", out=tmp_path / "page.html")
    assert data["runs"][0]["task"] == run.summary["task"]
    assert len(data["runs"][0]["task"]["returns"]) == len(run.skills)


def test_tables_without_a_map_and_with_chance_have_pages(tmp_path):
    moved = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    chain = tables.build("chain", moved, horizon=6)
    apart.train(chain, method="apart_plus", out=tmp_path / "chain", **SMALL)
    slip = apart.parse_map("S..\n...", "slippery", slip=0.2)
    apart.train(slip, method="apart_plus", out=tmp_path / "slip", **SMALL)
    data = report(tmp_path / "chain", tmp_path / "slip", out=tmp_path / "page.html")
    assert [world["form"] for world in data["worlds"]] == ["list", "map"]
    assert data["worlds"][0]["chance"] is None
    np.testing.assert_allclose(unpacked(data["worlds"][1]["chance"]).sum(2), 1.0, atol=1e-6)
    assert data["runs"][0]["command"] == ""
    assert "Only Python" in data["runs"][0]["command_note"]
    assert [group["label"] for group in data["groups"]] == [
        "apart_plus in chain",
        "apart_plus in slippery",
    ]


def test_a_large_table_shows_what_was_visited(seeds, tmp_path, monkeypatch):
    monkeypatch.setattr(page_places, "MOST_LISTED", 3)
    data = report(seeds / "plus-0", out=tmp_path / "page.html")
    run = apart.load(seeds / "plus-0")
    visited = {place for skill in run.skills for place in skill.trajectory}
    visited |= {
        tuple(place)
        for moment in run.history
        for place in run.world.places.label(np.array(moment["last_states"]))
    }
    assert len(data["worlds"][0]["labels"]) == len(visited)
    assert "next" not in data["worlds"][0]
    assert data["runs"][0]["policy"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such run folder"),
        (["{run}", "--out", "page.txt"], "--out: page.txt does not end in .html or .htm"),
        (["{run}", "--out", "no/page.html"], "--out: no/page.html is not a file in a folder"),
        ([], "the following arguments are required: DIR"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(OLD / "apart", tmp_path / "run")
    assert main(["report", *(word.format(run="run") for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.rglob("*.html"))


def test_a_damaged_run_is_refused_and_nothing_written(tmp_path, capsys):
    shutil.copytree(OLD / "apart", tmp_path / "run")
    path = tmp_path / "run" / run_folder.METRICS
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    assert main(["report", str(tmp_path / "run")]) == 2
    assert "does not match its checksum" in capsys.readouterr().err
    assert not (tmp_path / "run" / run_folder.REPORT).exists()


def test_the_page_of_several_runs_stands_beside_them(seeds, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("plus-0", "plus-1", "diayn"):
        shutil.copytree(seeds / name, tmp_path / "runs" / name)

    def where(*names):
        assert main(["report", *(f"runs/{name}" for name in names)]) == 0
        return re.search(r"open (\S+) in", capsys.readouterr().out).group(1)

    assert where("diayn") == f"runs/diayn/{run_folder.REPORT}"
    assert where("plus-0", "plus-1") == "runs/report.html"
    assert where("plus-1", "plus-0") == "runs/report.html"  # the same selection
    assert where("plus-0", "diayn") == "runs/report-plus-0-diayn.html"
    assert where("plus-0", "diayn") == "runs/report-plus-0-diayn.html"
    assert len(written(tmp_path / "runs" / "report.html")["runs"]) == 2
    # A file that is no page of these runs is not replaced.
    for name in ("report.html", "report-plus-0-diayn.html"):
        (tmp_path / "runs" / name).write_text("mine")
    assert main(["report", "runs/plus-0", "runs/diayn"]) == 2
    assert "--out" in capsys.readouterr().err
    assert (tmp_path / "runs" / "report.html").read_text() == "mine"
    assert apart.write_page("runs/plus-0", "runs/plus-0") == Path("runs/plus-0/report.html")
    far = shutil.copytree(seeds / "diayn", tmp_path / "else" / "where")
    assert apart.write_page("runs/plus-0", far) == Path("report.html")


def test_headings_say_what_gives_the_rewards(seeds):
    counted, trained = (policies_of(apart.load(seeds / name)) for name in ("plus-0", "diayn"))
    assert counted.heading == DISCRIMINATORS["counts"].heading != trained.heading
    for name, kind in OBJECTIVES.items():
        assert kind.heading or "discriminator" in kind.reads, name


@pytest.mark.parametrize(
    "options",
    [
        {"method": "apart"},
        {"method": "apart", "skills": 7, "dropout": False, "learning_rate": 0.01},
        {"method": "apart_plus", "horizon": 9, "skills": 4, "fading": 0.25},
        {"method": "diayn", "network": "mlp:8", "discriminator_learning_rate": 0.02},
        {"method": "tuned_vic", "inverse_temperature": 3.5, "seed": 4, "steps": 12_345},
        {"method": "apart_logits", "anneal": False},
        {"method": "random_walk"},
    ],
)
def test_the_command_trains_the_same_again(options):
    """Its words, read by the command line, give the same configuration."""
    options = dict(options)
    _same_again("u_maze", options.pop("method"), options, 0.1)


@pytest.mark.parametrize("network", [{}, {"network": "mlp:8"}], ids=["as it is", "mlp"])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_command_of_every_method_trains_the_same_again(method, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("room.txt").write_text("S..\n..9\n")  # with a task
    options = {"skills": 3, "horizon": 4, "steps": 400, **network}
    _same_again("room.txt", method, options)


@pytest.mark.parametrize(
    "world",
    ["maze:u:start=random", "gym:CartPole-v1", "gym:CartPole-v1:render_mode=rgb_array,seed=3"],
)
def test_the_command_trains_the_same_again_outside_tables(world):
    pytest.importorskip("gymnasium")
    _same_again(world, "apart_spread", {"skills": 3, "steps": 4000})


def _same_again(named, method, options, slip=0.0):
    from apart.cli import _parser, train

    config, world = resolve(named, method, options, slip)
    stored = worlds.from_spec(world.about.spec, config.horizon)
    said = words(config, stored)
    parsed = _parser(said)[0].parse_args(said)
    given = train._options(parsed)
    again, same_world = resolve(parsed.world, given.pop("method"), given, float(parsed.slip or 0))
    assert again == config
    assert same_world.about.spec == world.about.spec


def test_the_command_of_an_old_run_leaves_out_what_does_nothing_today():
    config, world = resolve("four_rooms", "apart_plus", {"skills": 7})
    before = dataclasses.replace(config, batch=64)  # it was taken, and did nothing then, too
    assert words(before, world) == words(config, world) is not None


def test_a_world_that_only_python_has_is_no_word():
    spec = {"kind": "gym", "id": "Mine-v0", "name": "Mine-v0,size=2"}
    assert worlds.written(spec) == "gym:Mine-v0:size=2"
    assert worlds.written({**spec, "only_here": True}) is None
    assert worlds.written({**spec, "name": 'Mine-v0,sizes=["1", "2"]'}) is None  # a list
    assert worlds.written({"kind": "mine", "name": "mine:1"}) is None


def test_a_map_that_has_the_name_of_another_is_no_word(tmp_path):
    world = apart.parse_map("S...\n....", "four_rooms")
    assert worlds.written(world.about.spec) is None
    assert worlds.written(worlds.load("four_rooms", 0.1).about.spec) == "four_rooms"
    assert worlds.written(apart.parse_map("S...", "mine.txt").about.spec) == "mine.txt"
    run = apart.train(world, method="apart_plus", out=tmp_path / "run", **SMALL)
    entry = report(run.path, out=tmp_path / "page.html")["runs"][0]
    assert entry["command"] == ""
    assert entry["command_note"] == "Only Python can train this world or method again."


def test_every_part_of_the_script_is_in_the_page():
    folder = Path(page.__file__).parent / "explorer"
    assert {path.name for path in folder.glob("*.js")} == set(page.SCRIPTS)
