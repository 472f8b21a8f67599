"""How often an answer without a language model holds the answer: questions with gold spans of one paragraph each.

python benchmarks/extract.py [--limit 120] [--budget 1000]
"""

from __future__ import annotations

import argparse

from corpora import read

import nestling


def run(name: str, limit: int, budget: int) -> None:
    """Print the share of the questions whose gold stands in the context, the answer, and its first sentence."""
    corpus = read(name, limit)
    texts = {document.id: document.text for document in corpus.documents}
    context = answer = first = sound = sentences = 0
    with nestling.open(":memory:") as nest:
        nest.add(corpus.documents)
        for id, question in corpus.questions.items():
            given = nest.ask(question, budget)
            golds = [
                " ".join(texts[document][start:end].split()) for document, start, end in corpus.spans[id]
            ]
            lines = given.text.split("\n")
            shown = " ".join(given.context.text.split())
            context += any(gold in shown for gold in golds)
            answer += any(gold in given.text for gold in golds)
            first += any(gold in lines[0] for gold in golds)
            sound += given.sound
            sentences += len(lines)
    count = len(corpus.questions)
    print(
        f"{name}: {count} questions, contexts of {budget} tokens, {sentences / count:.1f} sentences an answer"
    )
    for told, number in (("context", context), ("answer", answer), ("first sentence", first)):
        print(f"  the gold stands in the {told}: {number / count:.3f}")
    print(f"  answers that hold: {sound / count:.3f}")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--corpus", default="xquad_en")
    options.add_argument("--limit", type=int, default=120)
    options.add_argument("--budget", type=int, default=1000)
    chosen = options.parse_args()
    run(chosen.corpus, chosen.limit, chosen.budget)
