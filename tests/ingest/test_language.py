"""Telling languages apart."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.ingest.language import SAMPLE, detect, function_words

SENTENCES = {
    "en": "Where is the key of the house that we bought last year?",
    "de": "Wo ist der Schlüssel zu dem Haus, das wir letztes Jahr gekauft haben?",
    "fr": "Où est la clé de la maison que nous avons achetée l'année dernière ?",
    "es": "¿Dónde está la llave de la casa que compramos el año pasado?",
    "it": "Dov'è la chiave della casa che abbiamo comprato l'anno scorso?",
    "pt": "Onde está a chave da casa que nós compramos no ano passado?",
    "nl": "Waar is de sleutel van het huis dat wij vorig jaar hebben gekocht?",
    "sv": "Var är nyckeln till huset som vi köpte förra året och som jag inte har?",
    "da": "Hvor er nøglen til huset, som vi købte sidste år, og hvad skal jeg gøre af den?",
    "fi": "Missä on sen talon avain, jonka me ostimme viime vuonna?",
    "hu": "Hol van annak a háznak a kulcsa, amelyet tavaly vettünk?",
    "ro": "Unde este cheia casei pe care am cumpărat-o anul trecut și nu mai este?",
    "tr": "Geçen yıl aldığımız evin anahtarı nerede ve bu kapı için hangisi?",
    "pl": "Gdzie jest klucz do domu, który kupiliśmy w zeszłym roku?",
    "cs": "Kde je klíč od domu, který jsme koupili minulý rok?",
    "id": "Di mana kunci rumah yang kami beli pada tahun lalu untuk mereka?",
    "vi": "Chìa khóa của ngôi nhà mà chúng tôi đã mua ở đâu?",
    "ru": "Где ключ от дома, который мы купили в прошлом году?",
    "uk": "Де ключ від будинку, який ми купили минулого року?",
    "bg": "Къде е ключът от къщата, която ние купихме миналата година?",
    "el": "Πού είναι το κλειδί του σπιτιού που αγοράσαμε πέρυσι;",
    "he": "איפה המפתח של הבית שקנינו בשנה שעברה",
    "ar": "أين مفتاح البيت الذي اشتريناه في العام الماضي",
    "fa": "کلید خانه‌ای که پارسال خریدیم کجا است",
    "hi": "पिछले साल खरीदे गए घर की चाबी कहाँ है",
    "th": "กุญแจบ้านที่เราซื้อเมื่อปีที่แล้วอยู่ที่ไหน",
    "zh": "我们去年买的房子的钥匙在哪里？",
    "ja": "去年買った家の鍵はどこにありますか。",
    "ko": "작년에 산 집 열쇠는 어디에 있습니까?",
    "hy": "Որտե՞ղ է տան բանալին",
    "ka": "სად არის სახლის გასაღები",
    "ta": "வீட்டின் சாவி எங்கே",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_told(language: str) -> None:
    """One question is enough in each of these languages, among all and among a few."""
    assert detect(SENTENCES[language]) == language
    assert detect(SENTENCES[language].upper()) == language
    assert detect(SENTENCES[language], ["en", language]) == language


@pytest.mark.parametrize("language", SENTENCES)
def test_the_answer_stays_among_the_candidates(language: str) -> None:
    """A language that is not a candidate is no answer, and neither is another in its place."""
    others = [code for code in ("en", "ja", "he") if code != language]
    assert detect(SENTENCES[language], others) == ""
    assert detect(SENTENCES[language], []) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "12345 3.5 %",
        "🎉🎉",
        "XJ-4410-B",
        "Los Angeles",
        "El Niño",
        "Kawann Short",
        "vitamin A",
        "N-cadherin non-coding RNA",
        "Comment on: Hickson ID, Chan KL, Ying S.",
        "df_x = df_w.select([col(x).alias(x) for x in df_w.columns])",
        "let mut v: Vec<u8> = Vec::new();",
        "kubectl get pods -n kube-system",
    ],
)
def test_rather_none_than_wrong(text: str) -> None:
    """Names, numbers and code tell nothing, or at most English."""
    assert detect(text) in ("", "en")


def test_a_quotation_does_not_decide() -> None:
    """A text is in the language of most of it."""
    assert detect("The Chinese word for panther is 黑豹, which is written with two characters.") == "en"
    assert detect('He said: "Ich bin ein Berliner" and the crowd that had been there was moved.') == "en"
    assert detect("黑豹队的防守只丢了 308 分，领先于国家橄榄球联盟 (NFL) Super Bowl 50。") == "zh"
    assert detect("これは「黑豹」という中国語の単語についての説明です。") == "ja"


def test_only_the_beginning_is_read() -> None:
    """A long text is told from its first characters, in little time."""
    text = (SENTENCES["de"] + " ") * 5
    assert detect(text.ljust(SAMPLE) + SENTENCES["en"] * 1000) == "de"
    detect("warm")
    long = SENTENCES["fr"] * 10_000
    start = time.thread_time()
    for _ in range(20):
        detect(long)
    assert (time.thread_time() - start) / 20 < 0.01


@given(st.text(max_size=200), st.none() | st.lists(st.sampled_from(["en", "de", "zh", "ru", "", "xx"])))
def test_any_text_has_an_answer(text: str, among: list[str] | None) -> None:
    """Any text gives a two-letter code of the candidates or nothing, the same each time."""
    found = detect(text, among)
    assert found == "" or (len(found) == 2 and (among is None or found in among))
    assert detect(text, among) == found


def test_lists_of_small_words_are_sound() -> None:
    """Each list is lower-case, composed words without spaces or punctuation, each once."""
    lists = function_words()
    assert {"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "hu", "ro", "tr", "ru"} <= set(
        lists
    )
    for code, words in lists.items():
        assert len(code) == 2
        assert len(words) > 50
        assert all(word == word.lower() and (word.isalpha() or code == "hi") for word in words), code
