#!/bin/sh
# Sees to it that there is a Chromium for the tests of the page: the system's, or one that Playwright downloads.
set -eu
python=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

there_is_one() {
    command -v chromium-headless-shell || command -v chromium || command -v google-chrome || test -d "$own"
}

# where Playwright has, or would have, its own
own=$("$python" -m playwright install --dry-run --only-shell chromium | sed -n 's/^ *Install location: *//p' | head -n 1)

if there_is_one >/dev/null; then exit 0; fi
deps=
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >"$log" 2>&1 || true
    for name in chromium-headless-shell chromium; do
        if apt-get install -y -qq --no-install-recommends "$name" fonts-dejavu-core >>"$log" 2>&1 &&
            there_is_one >/dev/null; then exit 0; fi
    done
    deps=--with-deps
fi
if "$python" -m playwright install $deps --only-shell chromium >>"$log" 2>&1; then exit 0; fi
tail -n 3 "$log" >&2
echo "nestling: there is no Chromium, and none could be installed; the tests that need one are skipped," >&2
echo "  or fail where NESTLING_BROWSER=required; install one, then run make browser" >&2
exit 1
