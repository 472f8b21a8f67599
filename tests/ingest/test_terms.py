"""The analyzer: what a text is found by, and what a query asks for."""

from __future__ import annotations

import sqlite3
import threading
import unicodedata

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from nestling.ingest.terms import LONGEST, MOST_QUERY_TERMS, query_terms, terms

LANGUAGES = ["en", "de", "fr", "tr", "ru", "hi", "ar", "zh", "ja", "th", "ko", "pl", "", "xx"]
languages = st.sampled_from(LANGUAGES)
# Words as they are written: joints, points, thousands, several scripts and marks in one alphabet.
writing = st.text(
    st.sampled_from("abzABZéÉßİıŁœﬁＡ09.,-_'’/ \u00ad\u200bñçйёЖσςΣ水黑カｶﾞ한국กำ่हि्न٣أ️🎉½"), max_size=40
)
texts = st.one_of(st.text(max_size=60), writing)
latin = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyzéèüöäñçåøłßœ"), min_size=1, max_size=20)


def asked(query: str, *nest: str) -> set[str]:
    """Every term a query may match."""
    return {term for variants in query_terms(query, nest or ["en"]) for term in variants}


def stripped(text: str) -> str:
    """The text without its combining marks."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


@given(texts, languages)
@example("ﷺ" * 20, "ar")
@example("x" * 5000 + "-" + "y" * 5000, "en")
@example("⺀ Ⅷ ② ㌔ ‿a‿b 3.5.", "ja")
@example("\ud800\x00\u2028", "en")
@example("กข" + "\u0e48" * 100, "th")
def test_terms_are_of_letters_digits_and_marks_and_short(text: str, language: str) -> None:
    """Whatever the text, each term has only letters, digits and marks and is not too long."""
    for term in [*terms(text, language), *asked(text, language)]:
        assert 0 < len(term) <= LONGEST
        assert regex.fullmatch(r"[\p{L}\p{N}\p{M}]+", term)


@given(texts, st.lists(languages, max_size=4))
def test_a_query_is_bounded_distinct_and_never_an_error(text: str, nest: list[str]) -> None:
    """Any text asks for a bounded list of different words, the same each time."""
    found = query_terms(text, nest)
    assert len(found) <= MOST_QUERY_TERMS
    assert len(set(found)) == len(found)
    assert all(variants and len(set(variants)) == len(variants) for variants in found)
    assert query_terms(text, nest) == found


@given(texts, texts, languages, st.lists(languages, max_size=3))
def test_a_text_is_found_by_itself(text: str, other: str, language: str, nest: list[str]) -> None:
    """Each word of a query is among the terms of a text that contains the query, in whatever language it is."""
    stored = set(terms(f"{other} {text} {other}", language))
    for variants in query_terms(text, [*nest, language]):
        assert stored & set(variants)


@given(latin, st.sampled_from(["en", "de", "fr", "hu", "tr", "pl", ""]))
def test_spelling_variants_give_the_same_terms(word: str, language: str) -> None:
    """Case, width, composition, accents and invisible characters make no difference."""
    expected = terms(word, language)
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isascii() else c for c in word)
    soft = "\u00ad".join(word)
    for variant in (word.upper(), wide, unicodedata.normalize("NFD", word), soft, stripped(word)):
        assert terms(variant, language) == expected, variant


@given(texts, languages)
def test_terms_of_terms_without_stemming_are_themselves(text: str, language: str) -> None:
    """Folding twice changes nothing."""
    once = terms(text, "xx")
    assert set(once) <= set(terms(" ".join(once), "xx"))


@given(writing, languages)
def test_terms_pass_through_fts5_unharmed(text: str, language: str) -> None:
    """Joined with spaces and split by the ascii tokenizer of SQLite, terms come back as they were."""
    made = terms(text, language)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'ascii')")
        database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
        database.execute("INSERT INTO t VALUES (?)", (" ".join(made),))
        kept = dict(database.execute("SELECT term, cnt FROM v"))
    database.close()
    assert kept == {term: made.count(term) for term in made}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("İSTANBUL", ["istanbul"]),
        ("ﬁne", ["fine"]),
        ("cafe\u0301 café CAFÉ", ["cafe", "cafe", "cafe"]),
        ("co\u00adop\u200bera\u2060te", ["cooperate"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Ærø Łódź Đorđe", ["aero", "lodz", "dorde"]),
        ("Σίσυφος ΣΊΣΥΦΟΣ", ["σισυφοσ", "σισυφοσ"]),
        ("мой ёж", ["мой", "еж"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("٢٠٢٣ २०२३", ["2023", "2023"]),
        ("", []),
        (" \n\t", []),
        ("?!… — () \"'", []),
        ("👨‍👩‍👧‍👦 🎉 🇩🇪", []),
        ("__init__ _ -", ["init"]),
    ],
)
def test_folding(text: str, expected: list[str]) -> None:
    """Case, width, accents, ligatures and invisible characters are taken away; marks that are letters stay."""
    assert terms(text, "xx") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("XJ-4410-B", ["xj4410b", "xj", "4410", "b"]),
        ("snake_case", ["snakecase", "snake", "case"]),
        ("camelCaseWord", ["camelcaseword", "camel", "case", "word"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("miRNAs", ["mirnas", "mi", "rnas"]),
        ("libafl_bolts::ownedref", ["libaflbolts", "libafl", "bolts", "ownedref"]),
        ("src/main.rs", ["src", "main", "rs"]),
        ("end.Next", ["end", "next"]),
        ("e-mail", ["email", "e", "mail"]),
        ("don’t", ["don", "t"]),
        ("3.5", ["3ꞏ5"]),
        ("3,5", ["3ꞏ5"]),
        ("1,000 1.000.000 1,000.50", ["1000", "1000000", "1000ꞏ50"]),
        ("1,2,3 2019,2020", ["1", "2", "3", "2019", "2020"]),
        ("v3.11.7", ["v3ꞏ11ꞏ7"]),
    ],
)
def test_compounds_and_numbers(text: str, expected: list[str]) -> None:
    """A compound is itself and its parts; a number is one term, whichever way it is written."""
    assert terms(text, "xx") == expected


def test_a_code_is_found_exactly_and_apart_from_its_likes() -> None:
    """A product code asks for one term that no other code has."""
    whole = query_terms("where is XJ-4410-B?", ["en", "de"])[0]
    assert whole == ("xj4410b",)
    assert "xj4410b" in terms("Spare part (XJ-4410-B), in stock.", "en")
    for other in ("XJ-4410-A", "XJ-4410-BS", "XJ-441-0B7", "4410-B"):
        assert "xj4410b" not in terms(other, "en")


def test_codes_are_not_stemmed() -> None:
    """An ending after a digit is part of the code."""
    assert terms("XJ4410ES", "en") == ["xj4410es"]


@pytest.mark.parametrize("asks", ["ownedRef", "owned_ref", "OWNED-REF", "OwnedRef::new", "owned ref"])
def test_an_identifier_is_found_however_it_is_written(asks: str) -> None:
    """Camel case, snake case and separate words meet."""
    assert asked(asks, "") & set(terms("let x = OwnedRef::from(y);", ""))


@pytest.mark.parametrize(
    ("language", "stored", "query"),
    [
        ("en", "The companies' policies", "company policy"),
        ("de", "alte Häuser und Straßen", "HAUS STRASSE"),
        ("de", "Müller", "Mueller"),
        ("fr", "les chevaux préférés", "preferé"),
        ("ru", "новые книги", "книга"),
        ("es", "canciones", "cancion"),
        ("", "executors", "executor"),
    ],
)
def test_inflections_meet(language: str, stored: str, query: str) -> None:
    """A query finds another form of the word, also when the nest holds other languages besides."""
    held = set(terms(stored, language))
    for variants in query_terms(query, ["en", "it", language]):
        assert held & set(variants)


def test_chinese_is_bigrams_with_single_characters_besides() -> None:
    """A query asks for bigrams, or for the one character it is."""
    assert terms("黑豹队。308分", "zh") == ["黑", "豹", "队", "黑豹", "豹队", "308", "分"]
    assert query_terms("黑豹队", ["zh"]) == [("黑豹",), ("豹队",)]
    assert query_terms("豹", ["zh"]) == [("豹",)]
    assert query_terms("NFL豹", ["zh", "en"]) == [("nfl",), ("豹",)]


def test_other_scripts_without_spaces() -> None:
    """Kana with the long mark, half-width kana, Hangul and Thai clusters are bigrams as well."""
    assert query_terms("コーヒー", ["ja"]) == [("コー",), ("ーヒ",), ("ヒー",)]
    assert terms("ｶﾞ", "ja") == ["ガ"]
    assert query_terms("한국어를", ["ko"]) == [("한국",), ("국어",), ("어를",)]
    assert query_terms("ที่นี่", ["th"]) == [("ที่นี่",)]
    assert set(terms("ที่", "th")) == {"ที่"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is the refund policy", {"refund", "polici"}),
        ("who is it", {"who", "is", "it"}),
        ("?!", set()),
        ("🎉🎉", set()),
        ("", set()),
        ('"AND" (cats OR dogs) NEAR* -mice', {"cat", "dog", "near", "mice"}),
        ("title:x^2 {a} col:*", {"titl", "x", "2", "col"}),
    ],
)
def test_small_words_and_operators(query: str, expected: set[str]) -> None:
    """Small words go unless nothing else is left, and what an engine would read as an operator is a word."""
    assert asked(query, "en") == expected


def test_small_words_are_those_of_the_language_of_the_query() -> None:
    """In a nest of two languages, one language's small word is another's word."""
    assert asked("When did he die in the war?", "en", "de") == {"die", "war"}
    assert asked("Wann war die Reise?", "en", "de") == {"reis"}


def test_a_very_long_query_is_cut() -> None:
    """Ten thousand words ask for the first few, and a repeated word counts once."""
    assert len(query_terms(" ".join(f"w{n}" for n in range(10_000)), ["en"])) == MOST_QUERY_TERMS
    assert query_terms("alpha " * 10_000, ["en"]) == [("alpha",)]


def test_threads_agree() -> None:
    """Many threads at once get what one gets alone."""
    words = " ".join(f"running{chr(97 + n % 26)} companies{chr(97 + n // 26 % 26)}" for n in range(700))
    expected = terms(words, "en")
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(terms(words, "en"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_memory_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of different words keeps the store of known ones small, and changes no answer."""
    from nestling.ingest import terms as module

    monkeypatch.setattr(module, "_REMEMBERED", 10)
    words = [f"walking{n}" for n in range(100)]
    assert terms(" ".join(words), "sv") == words
    assert len(module._stemmed("sv")) <= 10
