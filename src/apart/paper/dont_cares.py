"""Pairs without the true skill: masked out, or pulled to 0."""

from __future__ import annotations

from apart.paper._spec import Claim, Condition, Experiment, more, sooner

EXPERIMENT = Experiment(
    title="Don't-cares in the discriminator",
    source="figure in the appendix, four rooms; 5M is our budget",
    conditions=[
        Condition("masked (APART)", "apart"),
        Condition("don't-cares at 0", "apart", options={"discriminator": "all_pairs_dont_cares"}),
    ],
    claims=[
        Claim(
            "masking is better",
            "better",
            more("masked (APART)", "don't-cares at 0"),
            {"not reproduced": "both are near the maximum by then; masking gets there sooner"},
        ),
        Claim(
            "with masking half of the skills are there sooner",
            "does not say",
            sooner("masked (APART)", "don't-cares at 0"),
            at=0,
            ours=True,
        ),
    ],
)
