"""Looking for better settings: one half of the questions chooses, the other half decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nestling.errors import SettingError
from nestling.measure.candidates import Candidate
from nestling.measure.objective import Asked
from nestling.measure.search import Halves, Search, TuneProgress, halves
from nestling.measure.threshold import GateAdvice, suggest
from nestling.measure.trials import OutOfTime, Trials
from nestling.measure.tuned import Tuned

# Questions that choose, that decide, and of each kind in each half for the gate, at most.
MOST_TUNING, MOST_HELD_OUT, MOST_FOR_GATE = 200, 400, 150


def tune(
    trials: Trials,
    base: Candidate,
    questions: Sequence[Asked],
    *,
    skipped: Sequence[str] = (),
    embedded: Callable[[], int] = lambda: 0,
    progress: Callable[[TuneProgress], None] | None = None,
) -> Tuned:
    """Look for settings that are better than ``base``, until nothing is or the time is over.

    Args:
        trials: Runs candidates.
        base: What the nest has now.
        questions: With their gold.
        skipped: Ids of questions without gold.
        embedded: How many texts went through the model so far.
        progress: Called after every step of questions.

    Raises:
        SettingError: No question has gold, or the time was over before anything could be compared.
    """
    given = halves([asked for asked in questions if not asked.question.unanswerable])
    half = Halves(given.tuning[:MOST_TUNING], given.held_out[:MOST_HELD_OUT])
    if not half.tuning or not half.held_out:
        raise SettingError("there are too few questions with gold to tune by; give 20 or more")
    packing = any(asked.gold.spans for asked in (*half.tuning, *half.held_out))
    unanswerable = halves([asked for asked in questions if asked.question.unanswerable])
    both = zip(unanswerable, given, strict=True)
    for_gate = [[*none[:MOST_FOR_GATE], *some[:MOST_FOR_GATE]] for none, some in both if any(unanswerable)]
    search = Search(trials, base, half, packing, progress, sum(map(len, for_gate)))
    search.measure_base()
    finished = search.walk()
    standings = search.standings()
    winner, verdict = search.decide()
    use = search.best if winner else base
    return Tuned(
        measure=_measure(half),
        budgets=tuple(trials.budgets) if packing else (),
        questions=(len(half.tuning), len(half.held_out)),
        skipped=tuple(skipped),
        winner=winner,
        use=use,
        verdict=verdict,
        standings=standings,
        tried=tuple(search.tried.values()),
        gate=_gate(trials, use, for_gate),
        finished=finished,
        embedded=embedded(),
        seconds=trials.deadline.spent,
    )


def _gate(trials: Trials, use: Candidate, asked: Sequence[Sequence[Asked]]) -> GateAdvice:
    if not asked:
        return suggest((), ())
    try:
        tuning, held_out = (trials.signals(use, half) for half in asked)
    except OutOfTime:
        return GateAdvice(
            verdict="no gate: the time was over before one could be looked for; give more minutes"
        )
    return suggest(tuning, held_out)


def _measure(half: Halves) -> str:
    kinds = {bool(asked.gold.spans) for asked in (*half.tuning, *half.held_out)}
    names = {True: "evidence recall, mean over the budgets", False: "nDCG@10 of documents"}
    return " and ".join(names[kind] for kind in (True, False) if kind in kinds)
