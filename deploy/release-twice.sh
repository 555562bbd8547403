#!/usr/bin/env bash
# Proves that the release of this commit is always the same. It builds the release in two clones with
# different paths, the second one without the compiler's cache of the first, and compares the checksums.
#
#   deploy/release-twice.sh [PLATFORM…]
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
version=${VERSION:-$(git describe --tags --match 'v*' 2>/dev/null || echo "v0.0.0-$(git rev-parse --short=12 HEAD)")}
for place in one a/longer/path; do
	git clone --quiet --no-hardlinks . "$work/$place"
done
VERSION=$version "$work/one/deploy/release.sh" "$work/first" "$@"
GOCACHE=$work/cache VERSION=$version "$work/a/longer/path/deploy/release.sh" "$work/second" "$@"
diff -r "$work/first" "$work/second"
cat "$work/first/SHA256SUMS"
echo 'both builds are equal'
