"""Makes handbook.nest and answers.json of this folder, with the code of a Nestling that wrote schema 1.

It was run on commit cecdaa3, with ``src`` and ``tests`` of that commit on the path; no later one can.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nestling
from nestling import Document
from wordhash import WordHash

HERE = Path(__file__).parent
QUESTIONS = ("what lowers a fever?", "iron and coffee", "Fieber senken", "absent words only", "page four")
TEXTS = {
    "fever.md": "# Fever\n\nDrink and rest.\n\n## When to see a doctor\n\n"
    + "A fever that lasts for more than three days should be looked at. " * 12
    + "\n\n## What lowers it\n\n"
    + "Paracetamol and ibuprofen lower a fever; cold compresses help a little. " * 14,
    "fieber.md": "# Fieber\n\n"
    + "Viel trinken und ruhen senkt das Fieber nicht, hilft aber dem Körper. " * 30,
    "iron": "Iron is absorbed best on an empty stomach. Coffee and tea hinder it.",
    "coffee": "Coffee keeps awake, and hinders iron.",
    "empty": " \n",
}
METADATA = {
    "fever.md": {"lang": "en", "year": 2024, "tags": ["heat", "rest"]},
    "fieber.md": {"lang": "de", "nested": {"page": 4}},
    "iron": {"lang": "en", "year": 2021},
}
FILTERS = ({"lang": "en"}, {"year": {"$gte": 2022}}, {"tags": {"$contains": "rest"}}, {"nested.page": 4})


def answers(nest: nestling.Nest) -> dict[str, object]:
    """All that is to be the same after the upgrade."""
    found = {
        question: [[p.id, p.score, p.similarity, p.coverage, p.text] for p in nest.search(question, 20)]
        for question in QUESTIONS
    }
    filtered = [[p.id for p in nest.search("fever", 20, where=where)] for where in FILTERS]
    trees = [nest.show(info.id) for info in nest.list()]
    return {
        "search": found,
        "filtered": filtered,
        "context": nest.context(QUESTIONS[0], 200).text,
        "list": [
            [i.id, i.title, i.source, i.metadata, i.language, i.characters, i.parents, i.children]
            for i in nest.list()
        ],
        "trees": [repr(tree) for tree in trees],
        "recipe": repr(nest.recipe),
        "scoring": repr(nest.scoring),
    }


def documents() -> list[Document]:
    """What is in it at the end."""
    return [
        Document(id, text, id.partition(".")[0].title(), METADATA.get(id, {}), f"docs/{id}")
        for id, text in TEXTS.items()
    ]


def main() -> None:
    """Write both files."""
    path = HERE / "handbook.nest"
    path.unlink(missing_ok=True)
    recipe = nestling.Recipe(child_size=200, parent_size=600)
    with nestling.open(path, create=True, embedder=WordHash(), recipe=recipe) as nest:
        nest.add([Document(id, f"An older text of {id}, to be replaced.") for id in TEXTS])
        nest.add(documents())
        # the highest row numbers are of what is gone
        nest.add([Document("gone", "This was removed. " * 80)])
        nest.remove("gone")
        nest.keep_scoring(nestling.Scoring(dense=0.75, lent=0.5))
        written = json.dumps(answers(nest), ensure_ascii=False, indent=1, sort_keys=True)
    (HERE / "answers.json").write_text(written + "\n", "utf-8")
    print(path, path.stat().st_size, file=sys.stderr)


if __name__ == "__main__":
    main()
