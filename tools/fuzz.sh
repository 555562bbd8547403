#!/bin/sh
# Tries each fuzz target with so many inputs, two targets at a time: tools/fuzz.sh 100000x [FOLDER...]
# Each package is compiled once for all of its targets. A failing input is kept in testdata/fuzz of its package.
#
# A target looks for inputs that reach new code. FUZZ_COVERS=ours counts only code of this module, and everything else is compiled as
# for any test: that takes a third of the time, and a target tries three times as many inputs in a second. Without it, code of Go and of
# libraries counts too.
set -eu
cd "$(dirname "$0")/.."
inputs=$1
shift
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
targets=$(grep -rHo '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' "${@:-.}" | sed 's,/[^/]*:func , ,')
case ${FUZZ_COVERS:-all} in
all) set -- -fuzz . ;;
ours) set -- -gcflags="$(go list -m)/...=-d=libfuzzer" ;;
*) echo "FUZZ_COVERS is all or ours" >&2; exit 2 ;;
esac
for folder in $(echo "$targets" | cut -d' ' -f1 | sort -u); do
	go test -c -vet=off "$@" -o "$programs/$(echo "$folder" | tr / _).test" "./$folder"
done
echo "$targets" | INPUTS=$inputs PROGRAMS=$programs CACHE=$(go env GOCACHE)/fuzz/$(go list -m) xargs -P 2 -L 1 sh -c '
	cd "$0"
	said=$("$PROGRAMS/$(echo "$0" | tr / _).test" -test.run "^$" -test.fuzz "^$1\$" -test.parallel 1 -test.fuzztime "$INPUTS" -test.fuzzcachedir "$CACHE/$0" 2>&1) &&
		echo "ok $0 $1: $(echo "$said" | grep "^fuzz:" | tail -n 1)" ||
		{ echo "$said"; echo "FAIL $0 $1"; exit 255; }'
