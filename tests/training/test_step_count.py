"""Environment steps are counted as they are made, where the world ends episodes before T."""

from __future__ import annotations

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

import apart
from apart import worlds
from apart._errors import UserError
from apart.runs import checkpoint
from apart.settings import resolve
from apart.training.program import program
from apart.training.state import StepCount, from_arrays, hyper_of, to_arrays
from apart.worlds.lifetime import lifetime
from apart.worlds.world import About, HostWorld, JaxWorld, ObsSpec, Places

LENGTH, T, SIDE = 7, 200, 2
ROUND = SIDE * LENGTH  # steps that a round makes
OPTIONS = {"skills": 3, "network": "mlp:8", "batch": 8, "episodes_per_update": SIDE, "hold": 1}


class Short(gymnasium.Env):
    """Left or right, for seven steps."""

    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t = 0, 0
        return self._seen(), {}

    def step(self, action):
        self.x, self.t = self.x + 2 * int(action) - 1, self.t + 1
        return self._seen(), 0.0, self.t == LENGTH, False, {}

    def _seen(self):
        return np.array([self.x, self.t], np.float32)


def in_python(name="short"):
    return HostWorld(
        About(name, {"kind": "short-host"}, T, 2),
        Places(21),
        ObsSpec((2,)),
        make=lambda n: SyncVectorEnv([Short] * n),
        place=lambda obs, info: obs[:, 0].astype(int) + 10,
    )


def in_jax(name="short"):
    def step(key, state, action):
        after = state + jnp.stack([2 * action - 1, 1])
        return after, after[1] == LENGTH

    return JaxWorld(
        About(name, {"kind": "short-jax"}, T, 2),
        Places(21),
        ObsSpec((2,)),
        reset=lambda key: jnp.zeros(2, jnp.int32),
        step=step,
        observe=lambda state: state.astype(jnp.float32),
        place=lambda state: state[0] + 10,
    )


KINDS = {"short-host": in_python, "short-jax": in_jax}
for kind, made in KINDS.items():
    worlds.register(kind, lambda spec, horizon, made=made: made())


@pytest.mark.parametrize("world", KINDS.values(), ids=KINDS)
def test_a_budget_is_of_steps_that_were_made(world, tmp_path):
    options = {"steps": 1000, "evaluate_every": 400, **OPTIONS}
    run = apart.train(world(), method="diayn", out=tmp_path, **options)
    rounds = -(-1000 // ROUND)
    seen = [int(row["env_steps"]) for row in run.metrics]
    assert seen == [0, -(-400 // ROUND) * ROUND, -(-800 // ROUND) * ROUND, rounds * ROUND]
    assert run.summary["env_steps"] == rounds * ROUND
    full, per_round = SIDE * T, 8  # an update in 50 steps
    assert run.config["updates_per_episode"] == per_round
    assert run.summary["updates"] == rounds * ROUND * per_round // full
    (*_, newest) = checkpoint.manifests(tmp_path / "checkpoints")
    arrays = checkpoint.from_bytes(newest.with_suffix(".safetensors").read_bytes())
    assert arrays["learnt.updates"] == run.summary["updates"]
    assert arrays["iteration"] == rounds


@pytest.mark.parametrize("world", KINDS.values(), ids=KINDS)
def test_a_run_that_goes_on_equals_one_that_never_stopped(world, tmp_path):
    options = {"method": "apart_spread", "evaluate_every": 400, **OPTIONS}
    whole = apart.train(world(), steps=900, out=tmp_path / "whole", **options)
    apart.train(world(), steps=500, out=tmp_path / "parts", **options)
    parts = apart.resume(tmp_path / "parts", steps=900)
    for name in ("env_steps", "n_effective"):
        assert [row[name] for row in parts.metrics] == [row[name] for row in whole.metrics]
    states = [
        max((tmp_path / name / "checkpoints").glob("*.safetensors")).read_bytes()
        for name in ("whole", "parts")
    ]
    assert states[0] == states[1]


@pytest.mark.parametrize("world", KINDS.values(), ids=KINDS)
def test_chunks_stop_after_the_round_that_comes_to_the_limit(world):
    config, loaded = resolve(world(), "diayn", {**OPTIONS, "steps": 1000})
    run, hyper = program(loaded, config), hyper_of(config)
    state = run.chunk(run.init(0, hyper), hyper, jnp.int32(100), StepCount.of(3 * ROUND - 1))
    assert int(state.made) == 3 * ROUND
    state = run.chunk(from_arrays(state, to_arrays(state)), hyper, jnp.int32(2), StepCount.of(999))
    assert int(state.made) == 5 * ROUND
    run.close()


def test_a_state_of_a_version_that_did_not_count_goes_on_from_full_rounds(tmp_path):
    options = {"method": "diayn", "evaluate_every": 2000, "out": tmp_path, **OPTIONS}
    run = apart.train(in_jax(), steps=500, **options)
    newest = checkpoint.manifests(tmp_path / "checkpoints")[-1]
    arrays = checkpoint.from_bytes(newest.with_suffix(".safetensors").read_bytes())
    old = {name: array for name, array in arrays.items() if not name.startswith("made.")}
    about = checkpoint.files.read_json(newest)
    kept = {n: about[n] for n in ("config_sha256", "logs", "threads", "seconds", "versions")}
    checkpoint.remove(newest)
    checkpoint.save(newest.parent, int(old["iteration"]), old, kept)
    (tmp_path / "summary.json").unlink()
    longer = 3 * SIDE * T * run.summary["updates"]
    assert apart.resume(tmp_path, steps=longer).summary["env_steps"] >= longer


def test_updates_are_counted_exactly_however_long_a_round_is():
    """512 episodes of 1,000 steps and an update in 50: steps times updates is above 32 bits."""
    config, _ = resolve(in_jax(), "diayn", {"episodes_per_update": 512, "horizon": 1000})
    assert config.collection * config.updates_per_episode > 2**31
    assert config.updates_per_steps == (1, 50)
    with pytest.raises(UserError, match="too much to count"):
        resolve(in_jax(), "diayn", {**OPTIONS, "horizon": 99_991, "updates_per_episode": 99_989})


def test_a_run_killed_after_its_last_checkpoint_ends_with_the_same_count(tmp_path):
    options = {"method": "diayn", "steps": 900, "evaluate_every": 700, "out": tmp_path, **OPTIONS}
    whole = apart.train(in_python(), **options).summary["n_effective"]
    (tmp_path / "summary.json").unlink()
    (tmp_path / "skills.json").unlink()
    again = apart.resume(tmp_path)
    assert again.summary["n_effective"] == whole == again.metrics[-1]["n_effective"]


def test_lost_skills_are_made_again_where_episodes_end_early(tmp_path):
    apart.train(in_python(), method="diayn", steps=500, out=tmp_path, **OPTIONS)
    before = (tmp_path / "skills.json").read_bytes()
    (tmp_path / "skills.json").unlink()
    with pytest.warns(UserWarning, match="made again"):
        apart.resume(tmp_path)
    assert (tmp_path / "skills.json").read_bytes() == before


def test_counts_carry_over_a_billion():
    count = StepCount.of(10**9 - 5).add(jnp.int32(7), jnp.int32(3))
    assert (int(count), int(count.owed)) == (10**9 + 2, 3)
    assert bool(count.below(StepCount.of(10**9 + 3)))
    assert not bool(count.below(StepCount.of(10**9 + 2)))
    assert not bool(count.below(StepCount.of(10**9 - 1)))
    assert bool(StepCount.of(5).below(StepCount.of(10**12)))


def test_random_play_lives_as_long_as_the_world_lets_it():
    assert lifetime(in_jax()) == LENGTH
    assert lifetime(in_python()) == T  # nothing was tried out
    assert lifetime(worlds.load("gym:CartPole-v1")) < 40
    assert lifetime(worlds.load("maze:u")) == worlds.load("maze:u").about.horizon
