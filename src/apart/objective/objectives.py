"""The names of objectives and what is known of each without JAX.

An objective gives the rewards. Most methods tell skills apart by a discriminator; others reward
something else and have a file of their own, which is imported when a run is trained. To add one,
write a module with ``build`` (`training.objectives.contract`) and one line in ``OBJECTIVES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apart._registry import Registry
from apart.objective.discriminators import Discriminator
from apart.objective.mixtures import COMPONENTS

_HOME: Final = "apart.training.objectives"
# Options about the form of an objective: one that is not read by it would do nothing.
FORMS: Final = frozenset(
    {
        "discriminator",
        "reward",
        "context",
        "inverse_temperature",
        "prior",
        "fading",
        "init_logits",
        "discriminator_learning_rate",
    }
)
# Those of them that are about what is trained.
TRAINED: Final = frozenset({"init_logits", "discriminator_learning_rate"})
_DECODED: Final = frozenset({"init_logits", "discriminator_learning_rate", "prior", "fading"})


@dataclass(frozen=True)
class Kind:
    """What an objective is, before it is built.

    Attributes:
        summary: one line for people.
        module: where its ``build`` is.
        reads: the options of `FORMS` that it looks at.
        listed: whether it goes over the states of a table.
        by_place: whether it sees the places that a world counts, where states cannot be listed.
        of_vectors: whether it is about changes of observations, which must be vectors.
        over_known: whether it looks at all known transitions, which a sweep keeps.
        trains: whether it learns from batches.
        spreads: whether fewer skills than places spread over them.
        bonus: whether it adds something, times ``--bonus``.
        by_episode: whether its rewards look at whole episodes, which batches then bring.
        grows: whether the number of skills that are drawn does.
        task: whether it is about the task of a map.
        drives_apart: whether skills are driven apart by how far they are from each other.
        counts_in_tables: whether it trains nothing where states can be counted.
        own_form: whether what it trains is a table of its own, whatever networks are.
        staged: whether what it does at a step depends on how many there will be.
        outputs: (K, numbers of an observation, starts of a table) -> how many numbers each of its
            networks gives for one, where that is not one network with K of them.
        posterior: whether its scores are a posterior of the skill, or its frequencies; where they
            are not, or their scale is nobody's to learn, no number of skills follows from them.
        least_decisions: how many an episode has at least, as it takes episodes in parts.
        keeps: (K, decisions of an episode) -> how many observations it keeps for itself.
        works_with: (K, S) -> how many numbers it keeps and works with at once, of all pairs of
            skills or of states, beside what all objectives need; S = 0 where none are listed.
        heading: what its scores and rewards are, above pictures of them; empty: as its
            discriminator says.
    """

    summary: str
    module: str
    reads: frozenset[str] = frozenset()
    listed: bool = False
    by_place: bool = False
    of_vectors: bool = False
    over_known: bool = False
    trains: bool = False
    spreads: bool = False
    bonus: bool = False
    by_episode: bool = False
    grows: bool = False
    task: bool = False
    drives_apart: bool = False
    counts_in_tables: bool = False
    own_form: bool = False
    staged: bool = False
    outputs: Callable[[int, int, int], tuple[int, ...]] = lambda skills, numbers, starts: (skills,)
    posterior: bool = True
    least_decisions: int = 1
    keeps: Callable[[int, int], int] = lambda skills, decisions: 0
    works_with: Callable[[int, int], int] = lambda skills, states: 0
    heading: str = ""


OBJECTIVES: Final = Registry(
    "objective",
    {
        "told_apart": Kind(
            "a discriminator identifies the skill; --reward scores its output",
            f"{_HOME}.told_apart",
            reads=FORMS,
        ),
        "count_bonus": Kind(
            "told_apart plus a bonus for rare last states: --bonus / sqrt(visits)",
            f"{_HOME}.count_bonus",
            reads=FORMS,
            listed=True,
            bonus=True,
        ),
        "relative_vic": Kind(
            "a discriminator of first and last state, relative to the last state alone",
            f"{_HOME}.relative_vic",
            reads=TRAINED,
            trains=True,
            by_episode=True,
            # One has a row for each start, or sees two observations.
            outputs=lambda skills, numbers, starts: (max(starts, 2) * skills, skills),
            heading="What the discriminator of both ends says",
        ),
        "valor": Kind(
            "a decoder infers the skill from the trajectory; skills are added as it learns",
            f"{_HOME}.valor",
            reads=_DECODED,
            listed=True,
            trains=True,
            by_episode=True,
            grows=True,
            own_form=True,
            heading="What the decoder says",
        ),
        "valor_all": Kind(
            "valor with all skills from the start",
            f"{_HOME}.valor",
            reads=_DECODED,
            listed=True,
            trains=True,
            by_episode=True,
            own_form=True,
            heading="What the decoder says",
        ),
        "valor_differences": Kind(
            "valor with a network that decodes differences of observations",
            f"{_HOME}.valor_differences",
            reads=TRAINED,
            of_vectors=True,
            outputs=lambda skills, numbers, starts: (skills, skills),
            trains=True,
            by_episode=True,
            grows=True,
            heading="What the decoder says",
        ),
        "dads": Kind(
            "how much better a skill predicts its next state than all skills together do",
            f"{_HOME}.dads",
            reads=frozenset({"prior", "fading"}),
            listed=True,
            heading="What the skills' dynamics predict",
        ),
        "dads_mixture": Kind(
            "dads with a network of Gaussian mixtures as dynamics",
            f"{_HOME}.dads_mixture",
            reads=TRAINED,
            of_vectors=True,
            outputs=lambda skills, numbers, starts: (COMPONENTS * (numbers + 1) * skills, skills),
            trains=True,
            heading="What the skills' dynamics predict",
        ),
        "eddict": Kind(
            "a skill is a step in a plane of learned state codes",
            f"{_HOME}.eddict",
            reads=TRAINED,
            trains=True,
            by_episode=True,
            posterior=False,
            heading="How well a place fits a skill's step between codes",
        ),
        "metra": Kind(
            "progress in a skill's own direction of an embedding, steps of at most 1 (METRA)",
            f"{_HOME}.metra",
            reads=TRAINED,
            trains=True,
            posterior=False,
            heading="How the embedding rates a place",
        ),
        "counted": Kind(
            "1 / sqrt(visits) of a state or place, the same for all skills: exploration",
            f"{_HOME}.counted",
            by_place=True,
            posterior=False,
            heading="How rarely a place was visited",
        ),
        "rnd": Kind(
            "error in predicting a random network, the same for all skills: exploration",
            f"{_HOME}.rnd",
            reads=TRAINED,
            trains=True,
            posterior=False,
            heading="How poorly a place is predicted",
        ),
        "edl": Kind(
            "explore, then assign a code to each skill, then reward being near it (EDL)",
            f"{_HOME}.edl",
            reads=TRAINED,
            trains=True,
            spreads=True,
            counts_in_tables=True,
            staged=True,
            posterior=False,
            heading="How near a place is to a skill's code",
        ),
        "eigen": Kind(
            "ascent of an eigenvector of the graph of known transitions (eigenoptions)",
            f"{_HOME}.eigen",
            listed=True,
            over_known=True,
            posterior=False,
            works_with=lambda skills, states: 4 * states**2,
            heading="How an eigenvector rates a place",
        ),
        "visr": Kind(
            "alignment of state features with a skill's own fixed direction (VISR)",
            f"{_HOME}.visr",
            reads=TRAINED,
            trains=True,
            posterior=False,
            heading="How the features rate a place",
        ),
        "discern": Kind(
            "similarity to the skill's goal, a state seen before (DISCERN)",
            f"{_HOME}.discern",
            reads=TRAINED,
            trains=True,
            works_with=lambda skills, states: skills**2,
            heading="How much a place looks like a skill's goal",
        ),
        "smerl": Kind(
            "the map's task, plus diversity for skills that solve it well (SMERL)",
            f"{_HOME}.smerl",
            reads=FORMS,
            listed=True,
            bonus=True,
            task=True,
        ),
        "domino": Kind(
            "the map's task, plus distance from the nearest other skill (DOMiNO)",
            f"{_HOME}.domino",
            listed=True,
            task=True,
            drives_apart=True,
            works_with=lambda skills, states: skills**2,
            heading="How far a place is from other skills",
        ),
        "upside_tree": Kind(
            "posterior over a random walk after the skill; good skills grow a tree (UPSIDE)",
            f"{_HOME}.upside_tree",
            listed=True,
            over_known=True,
            works_with=lambda skills, states: 5 * states**2,
            spreads=True,
            least_decisions=2,
            heading="What the posterior over random walks says",
        ),
        "upside_walks": Kind(
            "upside_tree with a trained classifier of the states of these walks",
            f"{_HOME}.upside_walks",
            reads=TRAINED,
            trains=True,
            keeps=lambda skills, decisions: skills * max(decisions, 10),  # walks of each skill
            spreads=True,
            least_decisions=2,
            heading="What the classifier of walks says",
        ),
        "upside": Kind(
            "upside_tree without the tree; skills are added while the posterior is high",
            f"{_HOME}.upside",
            listed=True,
            over_known=True,
            works_with=lambda skills, states: 5 * states**2,
            spreads=True,
            least_decisions=2,
            heading="What the posterior over random walks says",
        ),
    },
)


def sees_places(kind: Kind, discriminator: Discriminator, in_table: bool) -> bool:
    """Whether what gives the rewards sees the places of observations, not these."""
    if "discriminator" in kind.reads:
        return discriminator.by_place
    return kind.by_place and not in_table
