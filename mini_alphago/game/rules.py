"""Rule sets: what differs between the ways Go is played, and the sets known by name."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from . import state

Ko = Literal["simple", "positional", "situational"]
Scoring = Literal["area", "territory"]
Compensation = Literal["none", "n", "n-1"]

KO_CODES = {"simple": state.KO_SIMPLE, "positional": state.KO_POSITIONAL, "situational": state.KO_SITUATIONAL}
SCORING_CODES = {"area": state.SCORING_AREA, "territory": state.SCORING_TERRITORY}
COMPENSATIONS = ("none", "n", "n-1")


def check_komi(komi: float) -> None:
    """ValueError unless komi is a whole or half number of points that could matter on some board."""
    number = isinstance(komi, (int, float, np.number)) and not isinstance(komi, bool)
    if not number or not -400 <= komi <= 400 or komi * 2 != round(komi * 2):
        raise ValueError(f"komi {str(komi)[:20]} is not possible: it is a multiple of 0.5 between -400 and 400")


def _check(name: str, value: object, allowed: Collection[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}: it is one of {', '.join(allowed)}")


@dataclass(frozen=True)
class Rules:
    """One set of rules.

    ko: `simple` forbids taking a single ko back at once; `positional` superko forbids making any earlier position
        again; `situational` forbids it with the same player to move.
    scoring: `area` counts stones and what they surround; `territory` what they surround, and prisoners.
    suicide: whether a chain of two or more may take its own last liberty. A lone stone never may.
    komi: what White gets; None is the tutorial's default, 5.5 on 9×9 and 7.5 elsewhere.
    handicap_compensation: what White gets besides for n handicap stones: nothing, n, or n - 1 points.
    """

    ko: Ko = "positional"
    scoring: Scoring = "area"
    suicide: bool = False
    komi: float | None = None
    handicap_compensation: Compensation = "none"

    def __post_init__(self) -> None:
        _check("ko", self.ko, KO_CODES)
        _check("scoring", self.scoring, SCORING_CODES)
        _check("handicap_compensation", self.handicap_compensation, COMPENSATIONS)
        if not isinstance(self.suicide, bool):
            raise ValueError(f"suicide is {self.suicide!r}: it is True or False")
        if self.komi is not None:
            check_komi(self.komi)

    def with_komi(self, komi: float | None) -> "Rules":
        """The same rules at another komi."""
        return replace(self, komi=komi)

    def komi_for(self, size: int) -> float:
        """The komi on a board of this size."""
        if self.komi is not None:
            return self.komi
        return 5.5 if size == 9 else 7.5

    def compensation_for(self, handicap: int) -> int:
        """Points that White gets for Black's handicap stones; one stone alone is no handicap."""
        if handicap < 2:
            return 0
        return {"none": 0, "n": handicap, "n-1": handicap - 1}[self.handicap_compensation]


# Chinese is played with the simple ko rule nearly everywhere, and so KataGo and its clients understand the name.
RULE_SETS = {
    "cgos": Rules(),
    "tromp-taylor": Rules(suicide=True, komi=7.5),
    "chinese": Rules(ko="simple", komi=7.5, handicap_compensation="n"),
    "japanese": Rules(ko="simple", scoring="territory", komi=6.5),
    "korean": Rules(ko="simple", scoring="territory", komi=6.5),
    "aga": Rules(ko="situational", komi=7.5, handicap_compensation="n-1"),
    "new-zealand": Rules(ko="situational", suicide=True, komi=7.5),
}


def get_rules(rules: "Rules | str") -> Rules:
    """The rule set of that name (in any case, with `_` or space for `-`), or the Rules given. ValueError if unknown."""
    if isinstance(rules, Rules):
        return rules
    name = str(rules).strip().lower().replace("_", "-").replace(" ", "-")
    if name not in RULE_SETS:
        raise ValueError(f"unknown rules {str(rules)[:40]!r}: known are {', '.join(RULE_SETS)}")
    return RULE_SETS[name]


def write_rules(info: Any, rules: Rules) -> None:
    """Let the games whose records `info` holds be played by these rules; their komi stays."""
    info["ko_rule"] = KO_CODES[rules.ko]
    info["scoring"] = SCORING_CODES[rules.scoring]
    info["suicide"] = rules.suicide
