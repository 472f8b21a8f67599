"""How the page is served: strictly, from one place, and the same in every theme and width."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from typing import Any

import pytest

from pages import Visit
from served import Served

PAGE = files("nestling.apps").joinpath("page")
PIECES = ["a", "é", "e\u0301", "中", "😀", "👨‍👩‍👧‍👦", "𝔘", "\n", "\u202e", " ", "\ufeff"]


def test_the_page_is_strict(server: Served) -> None:
    """Each file comes with its type and a policy that allows nothing inline, and nothing from elsewhere."""
    home = server.http.get("/")
    policy = home.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", home.text)
    for file in PAGE.iterdir():
        text = file.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), (
            file.name
        )
        assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}, file.name
        name = "" if file.name == "index.html" else file.name
        answer = server.http.get(f"/{name}")
        assert answer.text == text
        assert answer.headers["content-security-policy"] == policy


@pytest.mark.browser
def test_the_policy_holds(server: Served, visit: Visit) -> None:
    """Markup cannot be made, scripts cannot be added, other hosts cannot be asked."""
    page = visit(server.url, allow="Content Security Policy|TrustedHTML|TrustedScript|TrustedTypePolicy")
    tried = page.evaluate(
        """async () => {
            const told = [];
            const attempt = (name, work) => { try { work(); told.push(name); } catch { } };
            attempt("innerHTML", () => { document.body.innerHTML = "<b>x</b>"; });
            attempt("parser", () => { new DOMParser().parseFromString("<b>x</b>", "text/html"); });
            attempt("policy", () => { trustedTypes.createPolicy("x", { createHTML: (each) => each }); });
            const script = document.createElement("script");
            attempt("script", () => { script.textContent = "window.hacked = 1"; document.body.append(script); });
            await fetch("http://localhost:1/").then(() => told.push("fetch"), () => {});
            const image = new Image();
            image.src = "http://127.0.0.2:1/x.png";
            const style = document.createElement("style");
            style.textContent = "body { display: none }";
            document.body.append(style);
            if (getComputedStyle(document.body).display === "none") told.push("style");
            if (window.hacked) told.push("hacked");
            return told;
        }"""
    )
    assert tried == []


@pytest.mark.browser
def test_offsets_are_code_points(server: Served, visit: Visit) -> None:
    """Cut by the page's own code, texts of many scripts give what Python gives."""
    chance = random.Random(5)
    cases = []
    for _ in range(200):
        text = "".join(chance.choices(PIECES, k=chance.randint(0, 12)))
        start, end = sorted(chance.choices(range(len(text) + 1), k=2))
        cases.append([text, start, end])
    found = visit(server.url).evaluate(
        """async (cases) => {
            const { Points } = await import("/points.js");
            return cases.map(([text, start, end]) => {
                const points = new Points(text);
                const back = points.point(points.unit(start));
                return [points.slice(start, end), points.length, back];
            });
        }""",
        cases,
    )
    assert found == [[text[start:end], len(text), start] for text, start, end in cases]


@pytest.mark.browser
def test_themes(server: Served, visit: Visit) -> None:
    """The theme is the system's, or the one that was chosen, which is kept."""
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = (visit(server.url, scheme=scheme) for scheme in ("light", "dark"))
    colours = [each.evaluate(paper) for each in (light, dark)]
    assert colours[0] != colours[1]
    light.click("#theme")
    assert light.evaluate(paper) == colours[0]
    light.click("#theme")
    assert (light.text_content("#theme"), light.evaluate(paper)) == ("Theme: dark", colours[1])
    light.reload(wait_until="commit")
    light.wait_for_selector("header")
    assert light.evaluate(paper) == colours[1]


@pytest.mark.browser
def test_nothing_comes_from_elsewhere(server: Served, visit: Visit, browser: Any) -> None:
    """All requests of all views go to the server itself."""
    page = visit("about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    views = {
        "search?q=lamp": ".card",
        "ask": "#question",
        "library": ".row",
        "measure": "#edition-a option >> nth=1",
    }
    for view, last in views.items():
        page.goto(f"{server.url}/#{view}")
        page.wait_for_selector(last, state="attached")
    assert len(asked) > 20
    assert all(each.startswith(server.url) for each in asked)
