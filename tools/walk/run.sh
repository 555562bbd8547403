#!/usr/bin/env bash
# Walk the console in a headless Chromium:
#
#   tools/walk/run.sh KOBO [PICTURES]
#
# It installs Debian's Chromium if there is none and this is possible, and fetches axe-core by npm.
set -euo pipefail
kobo=$(realpath "$1")
pictures=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/.."

if ! command -v chromium >/dev/null; then
	if [ "$(id -u)" = 0 ]; then root=(); else root=(sudo -n); fi
	"${root[@]}" apt-get update -qq
	"${root[@]}" apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
npm pack --silent --pack-destination "$scratch" axe-core@4.14.1 >/dev/null
tar -xzf "$scratch"/axe-core-*.tgz -C "$scratch" package/axe.min.js
go build -o "$scratch/walk-console" ./walk
"$scratch/walk-console" -kobo "$kobo" -axe "$scratch/package/axe.min.js" -chromium "$(command -v chromium)" ${pictures:+-pictures "$pictures"}
