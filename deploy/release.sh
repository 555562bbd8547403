#!/usr/bin/env bash
# Builds the release of the checked-out commit into a folder: a static binary for each platform, the
# software bill of materials, the licences and the checksums. The same commit always gives the same
# bytes, on every machine.
#
#   deploy/release.sh FOLDER [PLATFORM…]     such as linux/amd64; without one, all platforms
set -euo pipefail
out=$(mkdir -p "${1:?the folder of the release}" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

platforms=${*:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
commit=$(git rev-parse HEAD)
version=${VERSION:-$(git describe --tags --match 'v*' 2>/dev/null || echo "v0.0.0-${commit:0:12}")}
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	echo 'there are uncommitted changes: a release is of a commit' >&2
	exit 1
fi

# Only the compiler named in go.mod builds a release, and no setting of this machine changes it.
GOTOOLCHAIN=go$(sed -n 's/^go //p' go.mod)
export GOTOOLCHAIN GOFLAGS='-mod=readonly' GOENV=off GOEXPERIMENT='' CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0

for platform in $platforms; do
	system=${platform%/*} machine=${platform#*/} suffix=
	[ "$system" = windows ] && suffix=.exe
	GOOS=$system GOARCH=$machine nice go build -trimpath -buildvcs=false \
		-ldflags "-s -w -buildid= -X main.release=${version#v} -X main.commit=$commit" \
		-o "$out/kobo_${version#v}_${system}_$machine$suffix" ./cmd/kobo
done
go -C tools run ./notices -sbom "$version" >"$out/kobo_${version#v}.cdx.json"
cp LICENSE THIRD_PARTY_NOTICES "$out/"
cd "$out"
sha256sum LICENSE THIRD_PARTY_NOTICES kobo_* >SHA256SUMS
