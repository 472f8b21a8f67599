"""Who is served: anyone here while there are no keys, then keys only, each within its rights and rate."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import nestling
from nestling.apps.server.running import check_keys
from nestling.apps.server.serving import Serving, is_loopback
from served import Serve, Served

ADMIN = ("/v1/check", "/metrics")


def test_without_keys_only_this_machine_is_served(server: Served) -> None:
    """A request must name this machine and come directly: not by another name, not through a proxy."""
    for host in (
        "localhost",
        f"localhost:{server.port}",
        "127.0.0.1",
        "127.8.8.8:1",
        "[::1]:80",
        "LOCALHOST",
    ):
        assert server.http.get("/v1/stats", headers={"Host": host}).status_code == 200, host
    hosts = (
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "10.0.0.1",
        "[fe80::1]",
    )
    for host in hosts:
        for path in ("/v1/stats", "/", "/healthz"):
            answer = server.http.get(path, headers={"Host": host})
            assert (answer.status_code, answer.json()["error"]["type"]) == (403, "AccessError"), host
    for name in ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host"):
        assert server.http.get("/v1/stats", headers={name: "1.2.3.4"}).status_code == 403


@pytest.mark.parametrize("with_key", [False, True])
def test_pages_of_other_sites_are_refused(server: Served, with_key: bool) -> None:
    """A browser tells the site of the page that asks: no other than the server's own may, with a key or without."""
    headers = server.bearer("k", "admin") if with_key else {}
    body = {"query": "fever"}
    for origin in (
        "http://evil.example",
        "null",
        "http://localhost",
        f"http://127.0.0.1:{server.port}.evil.example",
    ):
        answer = server.http.post("/v1/search", json=body, headers={"Origin": origin, **headers})
        assert answer.status_code == 403, origin
        assert "access-control-allow-origin" not in answer.headers
    own = server.http.post("/v1/search", json=body, headers={"Origin": server.url, **headers})
    assert own.status_code == 200
    preflight = server.http.options(
        "/v1/search", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 403


def test_a_form_of_another_site_changes_nothing(server: Served) -> None:
    """The types that a form can send are refused before they are read."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        headers = {"Content-Type": kind} if kind else {}
        for method, path in (("PUT", "/v1/documents/x"), ("POST", "/v1/documents"), ("POST", "/v1/search")):
            answer = server.http.request(method, path, content=b'{"text": "x"}', headers=headers)
            assert (answer.status_code, answer.json()["error"]["type"]) == (415, "InputError")
    assert server.http.get("/v1/stats").json()["documents"] == 3


def test_once_there_is_a_key_everyone_needs_one(server: Served) -> None:
    """The first key counts at once, its removal too, and the last one's does not open the nest again."""
    assert server.http.get("/v1/stats").status_code == 200
    headers = server.bearer("first")
    refused = server.http.get("/v1/stats")
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "AccessError")
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert server.http.get("/v1/stats", headers=headers).status_code == 200
    assert server.http.get("/v1/stats", headers={**headers, "Host": "nest.example"}).status_code == 200
    key = headers["Authorization"].removeprefix("Bearer ")
    wrong = (
        "Bearer",
        "Bearer x",
        f"Basic {key}",
        f"Bearer {key}x",
        f"Bearer {key[:-1]}",
        f"Bearer nk__{key[12:]}",
    )
    for value in wrong:
        assert server.http.get("/v1/stats", headers={"Authorization": value}).status_code == 401, value
    server.keys.remove("first")
    assert server.http.get("/v1/stats", headers=headers).status_code == 401
    assert server.http.get("/v1/stats").status_code == 401


def test_rights(server: Served) -> None:
    """Each right includes those before it, and no more; a refused request does nothing."""
    keys = {rights: server.bearer(rights, rights) for rights in ("read", "write", "admin")}
    requests = {
        "read": [("GET", "/v1/stats"), ("GET", "/v1/documents"), ("GET", "/v1/documents/fever")],
        "write": [("PUT", "/v1/documents/new"), ("DELETE", "/v1/documents/new")],
        "admin": [("GET", path) for path in ADMIN],
    }
    order = list(requests)
    for needed, routes in requests.items():
        for rights, headers in keys.items():
            for method, path in routes:
                body = {"text": "x"} if method == "PUT" else None
                answer = server.http.request(method, path, json=body, headers=headers)
                allowed = order.index(rights) >= order.index(needed)
                assert (answer.status_code < 300) == allowed, (rights, method, path)
                assert allowed or answer.status_code == 403
    assert server.http.get("/healthz").status_code == server.http.get("/readyz").status_code == 200


def test_a_rate_holds(server: Served) -> None:
    """Beyond its rate a key is told when to come again; others are not concerned."""
    slow, other = server.bearer("slow", rate=3), server.bearer("other")
    answers = [server.http.get("/v1/stats", headers=slow) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].json()["error"]["type"] == "BusyError"
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 21
    assert server.http.get("/v1/stats", headers=other).status_code == 200


def test_others_are_not_served_without_keys(serve: Serve, tmp_path: Path) -> None:
    """The server does not start where others could reach it; with an emptied file of keys neither."""
    server = serve(host="0.0.0.0")
    serving = Serving(server.serving.path, str(tmp_path), host="0.0.0.0")
    with pytest.raises(nestling.AccessError, match="nestling keys add"):
        check_keys(serving)
    server.keys.add("one", "read")
    check_keys(serving)
    server.keys.remove("one")
    with pytest.raises(nestling.AccessError, match="nestling keys add"):
        check_keys(serving)
    Path(f"{serving.path}.keys").unlink()
    assert server.http.get("/v1/stats").status_code == 401, "it was bound to be reached by others"


def test_a_copied_nest_has_no_keys(server: Served, tmp_path: Path) -> None:
    """Keys are beside the nest and not in it."""
    server.keys.add("one", "read")
    copy = tmp_path / "copy.nest"
    shutil.copy(server.serving.path, copy)
    assert not Path(f"{copy}.keys").exists()


def test_what_is_this_machine() -> None:
    """Addresses of the loopback network and localhost; no others, no names that only look like it."""
    for host in ("localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"):
        assert is_loopback(host)
    for host in ("0.0.0.0", "::", "", "localhost.example", "10.0.0.1", "example", "127.0.0.1.example"):
        assert not is_loopback(host)
