"""The options of the command line."""

from __future__ import annotations

from apart._config import SPECS, Config, default_words, flag
from apart.facts import choices
from tabled.base import markdown, table


@table
def options() -> str:
    """Every option with its default where the method sets none."""
    names, parts = choices(), []
    for group in dict.fromkeys(spec.group for spec in SPECS.values()):
        rows = []
        for name, spec in SPECS.items():
            if spec.group != group:
                continue
            default = getattr(Config, name)
            one_of = f": {', '.join(f'`{n}`' for n in names[spec.kind])}" if spec.kind else ""
            if name == "method":
                one_of = ", see above"
            rows.append([f"`{flag(name)}`", f"`{default_words(default)}`", spec.help + one_of])
        parts.append(markdown([group, "default", "meaning"], rows))
    return "\n\n".join(parts)
