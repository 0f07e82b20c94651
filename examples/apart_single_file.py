"""APART in one file: learn skills that end in different states, without a task.

A skill z is a policy, learned by Q-learning on a table Q[s, z, a]. Its reward comes from a
discriminator, which learns to guess the skill from a state. A skill is rewarded in states where
the discriminator prefers it to every other skill, so each skill looks for states of its own.

One round of training calls three functions, in the order of this file:
    play     one episode of a random skill, which then enters the replay buffer
    sample   a random batch of transitions, and which of them are rewarded this time
    update   rewards, one Adam step for Q, one Adam step for the discriminator

Paper: Schreiber Galler, Zahavy, Desjardins, Cohen, "APART: Diverse Skill Discovery using All Pairs
with Ascending Reward and DropouT", EWRL 2023. Equations and algorithms are numbered as there.
"""

from argparse import ArgumentParser
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array


@dataclass(frozen=True)
class Args:
    steps: int = 1_000_000  # Training ends after this many environment steps.
    seed: int = 0  # All random numbers follow from this seed.
    evaluate_every: int = 25_000  # Skills are counted at this interval of steps.
    skills: int = 100  # The number of skills K is chosen in advance.
    horizon: int = 40  # An episode ends after T steps.
    epsilon: float = 0.001  # An action is random with this probability.
    buffer: int = 50_000  # The replay buffer holds this many transitions.
    batch: int = 640  # An update learns from B transitions.
    learning_rate: float = 2e-3  # Adam's rate is the same for Q and the discriminator.
    discount: float = 0.99  # The value of the next state is multiplied by gamma.


# 85 free cells, S is the start. A move into a wall (#) or off the map leaves the state unchanged.
FOUR_ROOMS = [
    ".....#....",
    ".....#....",
    "..........",
    ".....#....",
    ".....#....",
    "##.#####.#",
    ".....#....",
    ".....#....",
    ".S........",
    ".....#....",
]
MOVES = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))  # stay, left, right, up, down
CELLS = [(r, c) for r, row in enumerate(FOUR_ROOMS) for c, mark in enumerate(row) if mark != "#"]
STATE = {cell: n for n, cell in enumerate(CELLS)}
START = next(STATE[r, c] for r, c in CELLS if FOUR_ROOMS[r][c] == "S")
NEXT_STATE = [[STATE.get((r + dr, c + dc), STATE[r, c]) for dr, dc in MOVES] for r, c in CELLS]


class Transitions(NamedTuple):
    state: Array
    action: Array
    next_state: Array
    time: Array  # t = 1 .. T: how many steps of the episode led to next_state
    skill: Array


def play(args: Args, q: Array, skill: Array, key: Array) -> Transitions:
    """Act epsilon-greedily for one episode of T transitions (Algorithm 2)."""
    key_explore, key_action = jax.random.split(key)
    explore = jax.random.uniform(key_explore, (args.horizon,)) < args.epsilon
    random_action = jax.random.randint(key_action, (args.horizon,), 0, len(MOVES))

    def step(state: Array, at_t: tuple[Array, Array, Array]) -> tuple[Array, Transitions]:
        t, explore_t, random_action_t = at_t
        greedy_action = jnp.argmax(q[state, skill])  # the lowest index among equal values
        action = jnp.where(explore_t, random_action_t, greedy_action)
        next_state = jnp.array(NEXT_STATE)[state, action]
        return next_state, Transitions(state, action, next_state, t, skill)

    times = jnp.arange(1, args.horizon + 1)
    return jax.lax.scan(step, jnp.int32(START), (times, explore, random_action))[1]


def sample(args: Args, replay: Transitions, n_rows: Array, key: Array) -> tuple[Transitions, Array]:
    """Draw B transitions from the first rows of the buffer, and [B] which of them are rewarded."""
    key_row, key_column, key_rewarded = jax.random.split(key, 3)
    row = jax.random.randint(key_row, (args.batch,), 0, n_rows)
    column = jax.random.randint(key_column, (args.batch,), 0, args.horizon)
    batch = Transitions(*(stored[row, column] for stored in replay))
    # Early states hardly distinguish skills, because all episodes have the same start. So a reward
    # counts with probability W(t) = (t / T)^2 and is 0 otherwise (equations 7 and 8). This dropout
    # is drawn anew each time a transition is sampled.
    weight = jnp.square(batch.time / args.horizon)
    return batch, jax.random.uniform(key_rewarded, (args.batch,)) < weight


def pairs_of_skills(n_skills: int) -> tuple[Array, Array]:
    """Return [K, K - 1] the numbers of the pairs of each skill, and its sign in each of them.

    The logit of the pair (i, j), i < j, is positive where a state looks like skill i, not like j.
    Its negative compares j with i. The signs are the nonzero entries of the code matrix M_c.
    """
    pairs = list(combinations(range(n_skills), 2))
    numbers = [[n for n, pair in enumerate(pairs) if z in pair] for z in range(n_skills)]
    signs = [[1.0 if pairs[n][0] == z else -1.0 for n in numbers[z]] for z in range(n_skills)]
    return jnp.array(numbers), jnp.array(signs)


class Agent(NamedTuple):
    q: Array  # [S, K, A] the value of each action in each state for each skill
    logits: Array  # [S, L] the discriminator: in each state one logit o for each pair of skills
    adam: optax.OptState  # for both


def new_agent(args: Args, n_states: int, key: Array) -> Agent:
    key_q, key_logits = jax.random.split(key)
    n_pairs = args.skills * (args.skills - 1) // 2
    q = jax.random.uniform(key_q, (n_states, args.skills, len(MOVES)), minval=-0.01, maxval=0.01)
    logits = jax.random.uniform(key_logits, (n_states, n_pairs), minval=-0.1, maxval=0.1)
    return Agent(q, logits, optax.adam(args.learning_rate).init((q, logits)))


def update(args: Args, agent: Agent, batch: Transitions, rewarded: Array) -> Agent:
    """Make one update of APART (Algorithm 1)."""
    numbers, signs = pairs_of_skills(args.skills)

    def logits_of_skill(logits: Array) -> Array:
        """[B, K - 1] the acting skill against each rival, in the state after the action."""
        # Algorithm 1 has the state before the action, but skills are counted by their last states.
        return signs[batch.skill] * logits[batch.next_state[:, None], numbers[batch.skill]]

    # Each pair votes y = tanh(o) in (-1, 1). The reward is the lowest vote: how clearly the state
    # belongs to the skill and not to its closest rival (equation 6). It is negative in states of
    # rivals. Untried actions, whose Q is about 0, look better there: this is why skills explore.
    votes = jnp.tanh(logits_of_skill(agent.logits))
    reward = jnp.where(rewarded, votes.min(axis=1), 0.0)

    # Q-learning without a target network. An episode ends at t = T, where no value follows.
    next_value = agent.q[batch.next_state, batch.skill].max(axis=1)
    target = reward + args.discount * jnp.where(batch.time < args.horizon, next_value, 0.0)

    def loss(q: Array, logits: Array) -> Array:
        td_error = q[batch.state, batch.skill, batch.action] - target
        # Binary cross-entropy (equation 4): every pair of the skill should vote for it, and does so
        # with probability (1 + y) / 2 = sigmoid(2 o). Pairs of two other skills are left out (the
        # "don't cares" of the paper's appendix): the sample contains no information about them.
        cross_entropy = -jax.nn.log_sigmoid(2.0 * logits_of_skill(logits))
        return jnp.square(td_error).mean() + cross_entropy.mean()

    # The two terms share no parameters, and Adam treats every parameter separately. So this is one
    # step for Q and one for the discriminator; the rewards are from before both steps.
    gradients = jax.grad(loss, argnums=(0, 1))(agent.q, agent.logits)
    (q_step, logits_step), adam = optax.adam(args.learning_rate).update(gradients, agent.adam)
    return Agent(agent.q + q_step, agent.logits + logits_step, adam)


@partial(jax.jit, static_argnames="args")
def train(
    args: Args, agent: Agent, replay: Transitions, first: int, last: int, key: Array
) -> tuple[Agent, Transitions]:
    """Run the rounds first to last - 1 in one compiled loop; round n plays the n-th episode."""
    n_rows = len(replay.time)  # an episode in each

    def one_round(n: Array, before: tuple[Agent, Transitions]) -> tuple[Agent, Transitions]:
        agent, replay = before
        key_skill, key_play, key_sample = jax.random.split(jax.random.fold_in(key, n), 3)
        skill = jax.random.randint(key_skill, (), 0, args.skills)
        episode = play(args, agent.q, skill, key_play)
        replay = jax.tree.map(lambda rows, new: rows.at[n % n_rows].set(new), replay, episode)
        batch, rewarded = sample(args, replay, jnp.minimum(n + 1, n_rows), key_sample)
        return update(args, agent, batch, rewarded), replay

    return jax.lax.fori_loop(first, last, one_round, (agent, replay))


@partial(jax.jit, static_argnames="args")
def last_states(args: Args, q: Array) -> Array:
    """[K] the state in which a greedy episode of each skill ends."""
    greedy, key, skills = replace(args, epsilon=0.0), jax.random.key(0), jnp.arange(args.skills)
    return jax.vmap(lambda skill: play(greedy, q, skill, key).next_state[-1])(skills)


if __name__ == "__main__":
    parser = ArgumentParser(epilog=f"Defaults: {Args()}")
    for name, default in vars(Args()).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    args = Args(**vars(parser.parse_args()))
    key_agent, key_rounds = jax.random.split(jax.random.key(args.seed))
    agent = new_agent(args, len(CELLS), key_agent)
    replay = Transitions(*jnp.zeros((5, args.buffer // args.horizon, args.horizon), jnp.int32))
    n_rounds, interval = args.steps // args.horizon, args.evaluate_every // args.horizon
    for first in range(0, n_rounds, interval):
        last = min(first + interval, n_rounds)
        agent, replay = train(args, agent, replay, first, last, key_rounds)
        n_skills = len(set(last_states(args, agent.q).tolist()))  # different last states
        print(f"{last * args.horizon} steps: {n_skills} of {len(CELLS)} skills", flush=True)
