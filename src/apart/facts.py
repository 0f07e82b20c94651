"""The records that a configuration names, and what they say together. No JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from apart._config import Config
from apart.learner import networks
from apart.learner.networks import NETWORKS, Form, Network
from apart.learner.q_learning import BLOCKS_ABOVE, Q_RULES, QRule
from apart.methods import METHODS, READINGS
from apart.objective.contexts import CONTEXTS
from apart.objective.discriminators import DISCRIMINATORS, Discriminator
from apart.objective.objectives import FORMS, OBJECTIVES, TRAINED, Kind, sees_places
from apart.objective.rewards import REWARDS, Reward
from apart.objective.time_weights import TIME_WEIGHTS
from apart.worlds import grid, observations
from apart.worlds.observations import OBSERVATIONS, Observation
from apart.worlds.world import TableWorld, World

NAMED: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "method": METHODS,
        "reading": READINGS,
        "objective": OBJECTIVES,
        "discriminator": DISCRIMINATORS,
        "reward": REWARDS,
        "context": CONTEXTS,
        "time weight": TIME_WEIGHTS,
        "q rule": Q_RULES,
        "observation": OBSERVATIONS,
        "network": NETWORKS,
    }
)


def choices() -> dict[str, dict[str, str]]:
    """For every kind of name: the names and a line on each."""
    found = {"world": {name: known.summary for name, known in grid.maps().items()}}
    for kind, records in NAMED.items():
        found[kind] = {name: record.summary for name, record in records.items()}
    return found


class Facts(NamedTuple):
    """The records that a configuration names, and what they say together."""

    objective: Kind
    discriminator: Discriminator
    reward: Reward
    rule: QRule
    observation: Observation
    q: Form
    logits: Form
    in_table: bool  # the world is one, as far as it is known
    cells: int  # of Q in a table: states times actions; 0 where nobody knows

    @classmethod
    def of(cls, config: Config, world: World | None = None) -> Facts:
        """Those of ``config``, in ``world`` as far as it is known."""
        return cls(
            OBJECTIVES[config.objective],
            DISCRIMINATORS[config.discriminator],
            REWARDS[config.reward],
            Q_RULES[config.q_rule],
            OBSERVATIONS[observations.parse(config.observation)[0]],
            *networks.parse(config.network),
            in_table=isinstance(world, TableWorld),
            cells=world.n_states * world.about.n_actions if isinstance(world, TableWorld) else 0,
        )

    @property
    def discriminates(self) -> bool:
        """Whether the objective is about a discriminator."""
        return "discriminator" in self.objective.reads

    @property
    def counting(self) -> bool:
        """Whether what gives the rewards is not trained."""
        if self.discriminates:
            return self.discriminator.learned is None and not self.discriminator.embeds
        return not self.objective.trains or (self.in_table and self.objective.counts_in_tables)

    @property
    def listed(self) -> bool:
        """Whether what gives the rewards goes over the states of a table."""
        if self.discriminates and self.counting and not self.discriminator.over_known:
            return True
        return self.objective.listed

    @property
    def over_known(self) -> bool:
        """Whether it looks at all known transitions, which a sweep keeps."""
        return self.discriminator.over_known if self.discriminates else self.objective.over_known

    @property
    def by_place(self) -> bool:
        """Whether it sees the places of observations, not these."""
        return sees_places(self.objective, self.discriminator, self.in_table)

    @property
    def adds(self) -> bool:
        """Whether there is a bonus on top of the reward."""
        return self.objective.bonus or (self.discriminates and self.reward.bonus is not None)

    @property
    def only_q(self) -> bool:
        """Whether Q alone is a network."""
        return self.counting or (not self.discriminates and self.objective.own_form)

    @property
    def networks(self) -> dict[str, Network]:
        """Those that are there, by what they are for."""
        found = {"Q": NETWORKS[self.q.kind]}
        return found if self.only_q else {**found, "logits": NETWORKS[self.logits.kind]}

    def at_once(self, config: Config) -> bool:
        """Whether a sweep goes over all cells of Q at every update, with the usual batch, too."""
        batch = min(config.batch, Config.batch)
        return self.rule.adam or 0 < self.cells <= BLOCKS_ABOVE * batch


# Options of rewards and of learning from them: they do nothing without updates (a random walk).
_OF_UPDATES: Final = FORMS | frozenset(
    {
        "time_weight",
        "dropout",
        "keep",
        "bonus",
        "optimality",
        "distance",
        "batch",
        "buffer",
        "learning_rate",
        "anneal",
        "discount",
        "bootstrap_last",
        "target_period",
        "average_rate",
    }
)
# Options that some configurations do not look at; setting one of those is a mistake worth a word.
_IDLE: Final[Mapping[str, Callable[[Config, Facts], bool]]] = MappingProxyType(
    {
        "batch": lambda c, f: f.counting and f.rule.sweeps and f.at_once(c),
        "buffer": lambda c, f: f.counting and f.rule.sweeps,
        "context": lambda c, f: f.discriminator.learned is None and CONTEXTS[c.context].only_last,
        "dropout": lambda c, f: TIME_WEIGHTS[c.time_weight].only_last,
        "keep": lambda c, f: not c.dropout or TIME_WEIGHTS[c.time_weight].ascends,
        "one_skill": lambda c, f: c.episodes_per_update == 1,
        "init_logits": lambda c, f: f.counting,
        "prior": lambda c, f: f.discriminator.learned is not None,
        "fading": lambda c, f: f.discriminator.over_known,
        "inverse_temperature": lambda c, f: not f.discriminator.reads_beta,
        "discriminator_learning_rate": lambda c, f: f.counting,
        "bonus": lambda c, f: not f.adds,
        "optimality": lambda c, f: not f.objective.task,
        "distance": lambda c, f: not f.objective.drives_apart,
    }
)


def is_idle(name: str, config: Config, facts: Facts) -> bool:
    """Whether a configuration does not look at the option ``name``."""
    if name in _OF_UPDATES and not config.updates_per_episode:
        return True
    if name in FORMS and not facts.discriminates:
        return name not in facts.objective.reads or (name in TRAINED and facts.counting)
    return name in _IDLE and _IDLE[name](config, facts)


def spreads(config: Config) -> bool:
    """Whether fewer skills than places spread over them."""
    kind = OBJECTIVES[config.objective]
    by_discriminator = "discriminator" in kind.reads
    return DISCRIMINATORS[config.discriminator].over_known if by_discriminator else kind.spreads


def staged(config: Config) -> bool:
    """Whether what happens at a step depends on how many there will be, but for falling rates."""
    return OBJECTIVES[config.objective].staged


def needs_task(method: str) -> bool:
    """Whether ``method`` solves the task of a map, and so needs a map that has one."""
    return OBJECTIVES[str(METHODS[method].options.get("objective", Config.objective))].task


def solves_task(config: Config) -> bool:
    """Whether the points of a map's task are among the rewards."""
    return OBJECTIVES[config.objective].task


def over_known(config: Config) -> bool:
    """Whether what gives the rewards looks at all known transitions, which a sweep keeps."""
    return Facts.of(config).over_known
