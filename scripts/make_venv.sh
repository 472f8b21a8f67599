#!/bin/sh
# Makes the virtual environment, on a machine that may have no Python, or one without its venv module.
set -eu
python=$1
venv=$2

install() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
    else
        echo "nestling: $* is missing; install it, then run make again" >&2
        exit 1
    fi
}

command -v "$python" >/dev/null || install python3 python3-venv
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "nestling: $python is $("$python" -V); give Python 3.11 or newer: make PYTHON=python3.12 ..." >&2
    exit 1
}
"$python" -c 'import ensurepip' 2>/dev/null || install python3-venv
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
