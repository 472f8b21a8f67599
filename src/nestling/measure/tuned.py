"""What tuning found: the settings to use, why, and what was tried on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nestling.measure.bootstrap import Difference, Values, needed
from nestling.measure.candidates import Candidate
from nestling.measure.compare import MOST_NEEDED, rounded
from nestling.measure.threshold import GateAdvice
from nestling.measure.trials import Cost

# The share of paired resamples of the held-out questions in which a winner must be the better one.
SURE = 0.9
# Held-out questions without which nothing wins.
LEAST_HELD_OUT = 10


@dataclass(frozen=True, slots=True)
class Standing:
    """How a candidate did on the held-out questions, beside the settings of the nest.

    Attributes:
        name: ``now``, ``whole card``, ``defaults`` or ``best``.
        candidate: Its settings.
        told: What of them is other than now.
        tuning: Mean score on the tuning half, or None where it was not finished.
        held_out: Mean score on the held-out half, or None likewise.
        difference: To the settings of now on the held-out half, or None.
        tokens: That a reader is given for a question, mean.
        cost: Of the index, or None where it was not built.
    """

    name: str
    candidate: Candidate
    told: str
    tuning: float | None
    held_out: float | None
    difference: Difference | None
    tokens: float | None
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate of the search: its settings, its score on ``n`` tuning questions, and whether it was given up."""

    told: str
    score: float
    n: int
    given_up: bool


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning found.

    Attributes:
        measure: What was measured: ``evidence recall``, ``nDCG@10``, or both.
        budgets: Tokens of the contexts that evidence was looked for in.
        questions: How many chose, and how many decided.
        skipped: Ids of questions without gold.
        winner: Whether the best is clearly better than what the nest has now.
        use: The settings to use: the best where it is the winner, else those of now.
        verdict: Why, in words.
        standings: Now first; the best last, where it is another.
        tried: The search, in order.
        gate: The gate to use.
        finished: Whether the search came to its end before the time did.
        embedded: Texts that went through the model.
        seconds: That it took.
    """

    measure: str
    budgets: tuple[int, ...]
    questions: tuple[int, int]
    skipped: tuple[str, ...]
    winner: bool
    use: Candidate
    verdict: str
    standings: tuple[Standing, ...]
    tried: tuple[Tried, ...]
    gate: GateAdvice
    finished: bool
    embedded: int
    seconds: float

    def settings(self) -> dict[str, Any]:
        """What to use, as JSON: ``recipe``, ``scoring``, ``context``, ``gate``, and the ``verdict``."""
        gate = {name: getattr(self.gate, name) for name in ("min_similarity", "min_coverage")}
        return {**self.use.settings(), "gate": gate, "verdict": self.verdict}

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        standings = [
            {
                **{name: getattr(each, name) for name in ("name", "told", "tuning", "held_out", "tokens")},
                "settings": each.candidate.settings(),
                "difference": each.difference._asdict() if each.difference else None,
                "cost": each.cost._asdict() if each.cost else None,
            }
            for each in self.standings
        ]
        return {
            "verdict": self.verdict,
            "winner": self.winner,
            "settings": self.settings(),
            "measure": self.measure,
            "budgets": list(self.budgets),
            "questions": {"tuning": self.questions[0], "held_out": self.questions[1]},
            "skipped": list(self.skipped),
            "standings": standings,
            "tried": [asdict(each) for each in self.tried],
            "gate": asdict(self.gate),
            "finished": self.finished,
            "embedded": self.embedded,
            "seconds": round(self.seconds, 1),
        }


def decided(found: Difference, deltas: Values, keep: str) -> tuple[bool, str]:
    """Whether the best candidate wins on the held-out questions, and why, in words.

    Args:
        found: Best minus now.
        deltas: Of these, one a question.
        keep: What to call the settings of now: ``the defaults``.
    """
    figures = (
        f"{100 * found.mean:+.1f} points, 95 % interval {100 * found.low:+.1f} to {100 * found.high:+.1f},"
        f" better in {100 * found.better:.0f} % of resamples, n = {found.n} held-out questions"
    )
    if found.n < LEAST_HELD_OUT:
        least = 2 * LEAST_HELD_OUT
        return False, (
            f"keep {keep}: {found.n} held-out questions decide nothing; give {least} questions or more in all"
        )
    if found.better >= SURE:
        return True, f"use these settings: {figures}"
    if found.mean <= 0:
        return False, f"keep {keep}: what was best on the tuning half is not on the held-out half: {figures}"
    questions = needed(deltas)
    told = f"about {rounded(questions):,}" if questions <= MOST_NEEDED else f"more than {MOST_NEEDED:,}"
    return False, f"keep {keep}: nothing is clearly better; the best: {figures}; it would take {told} to tell"
