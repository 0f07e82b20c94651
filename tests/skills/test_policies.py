"""Policies from a checkpoint do what the run's own evaluation saw."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import fitting

import apart
from apart._errors import UserError
from apart.methods import METHODS
from apart.runs import folder as run_folder
from apart.skills.policies import policies_of

OLD = Path(__file__).parents[1] / "fixtures" / "runs-0.1" / "finished"
WORLD = apart.parse_map("S..\n.#.\n..3", "ring")  # with a task, for those who solve one
SMALL = {"steps": 600, "skills": 5, "horizon": 6, "batch": 16, "evaluate_every": 96}
CASES = {
    "apart": {"method": "apart", "buffer": 200},
    "apart_plus": {"method": "apart_plus"},
    "diayn": {"method": "diayn", "average_rate": 0.1, "buffer": 200},
    "mlp": {"method": "vic", "network": "mlp:8", "buffer": 200},
}
# And the first method of every registered objective.
BY_OBJECTIVE = {
    method.options["objective"]: {"method": name}
    for name, method in reversed(list(METHODS.items()))
    if "objective" in method.options
}
CASES |= BY_OBJECTIVE


def walk(run, action, skill):
    """The cells of an episode of the policy in ``action`` [S, K]."""
    states = [run.world.start]
    for _ in range(run.config["horizon"]):
        states.append(int(run.world.next_state[states[-1], action[states[-1], skill], 0]))
    return [tuple(cell) for cell in run.world.cells[states].tolist()]


def check(run):
    found = policies_of(run)
    for skill in run.skills:
        assert walk(run, found.action, skill.index) == skill.trajectory
        last = run.world.state(skill.last_state)
        assert found.posterior[last, skill.index] == pytest.approx(skill.probability, abs=1e-4)
    np.testing.assert_allclose(found.posterior.sum(1), 1.0, atol=1e-5)
    assert (found.rival != np.arange(run.config["skills"])).all()
    assert np.isfinite(found.reward).all()


@pytest.mark.parametrize("case", CASES)
def test_policies_walk_the_stored_trajectories(case, tmp_path):
    options = {**SMALL, **CASES[case]}
    method = options.pop("method")
    options = fitting(WORLD, method, options)
    check(apart.train(WORLD, method=method, out=tmp_path / "run", **options))


@pytest.mark.parametrize("case", sorted(path.name for path in OLD.iterdir()))
def test_policies_of_0_1_walk_the_stored_trajectories(case):
    check(apart.load(OLD / case))


def test_the_rival_of_pairs_is_the_one_that_sets_the_reward(tmp_path):
    """Of APART's reward, the least vote: only that pair can raise it."""
    from apart.objective import pairs
    from apart.skills.policies import learnt_of

    run = apart.train(WORLD, out=tmp_path / "run", **{**SMALL, **CASES["apart"]})
    found = policies_of(run)
    logits = np.asarray(learnt_of(run).learnt.discriminator.params)
    first, second = pairs.members(5)
    for state in range(run.world.n_states):
        for skill in range(5):
            rival = found.rival[state, skill]
            sign = 1 if skill < rival else -1
            at = (first == min(skill, rival)) & (second == max(skill, rival))
            vote = np.tanh(sign * logits[state][at][0])
            assert vote == pytest.approx(found.reward[state, skill], abs=1e-5)


def test_rewards_of_moves_are_expected_ones_where_chance_has_a_part(tmp_path):
    """With slip, metra's reward of a move is the mean over where it may lead."""
    from apart.objective.contexts import Moved
    from apart.skills.policies import learnt_of

    run = apart.train("u_maze", method="metra", slip=0.2, out=tmp_path / "run", **SMALL)
    found, known = policies_of(run), learnt_of(run)
    kept, states = known.learnt.discriminator, np.arange(run.world.n_states)
    for skill in range(5):
        action = found.action[:, skill]
        expected = sum(
            run.world.probability[states, action, n]
            * np.asarray(
                known.learner.objective.rewards(
                    kept, Moved(states, run.world.next_state[states, action, n]), known.hyper
                )
            )[:, skill]
            for n in range(run.world.next_state.shape[2])
        )
        np.testing.assert_allclose(found.reward[:, skill], expected, atol=1e-5)
    assert np.abs(found.reward).max() > 1e-4


def test_the_rival_of_counts_is_the_likeliest_other():
    run = apart.load(OLD / "apart_plus")
    found = policies_of(run)
    others = np.where(np.eye(4, dtype=bool), -1.0, found.posterior[:, None, :])
    assert (others.argmax(2) == found.rival).all()


def test_a_run_without_checkpoints_says_so(tmp_path):
    shutil.copytree(OLD / "apart", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / run_folder.CHECKPOINTS)
    with pytest.raises(UserError, match="no checkpoint, so no policies"):
        policies_of(apart.load(tmp_path / "run"))
