#!/usr/bin/env bash
# Starts the root file system of the image as the image runs: read-only, without root's rights, in
# namespaces of its own. Then it asks /readyz, looks at the process, and stops it again. It needs no
# container builder: it runs the steps of the Dockerfile, and unshare instead of a container.
#
#   deploy/try-image.sh          builds the program as the Dockerfile does
#   deploy/try-image.sh BINARY   takes one that needs no C library
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
chmod 0755 "$work" # the user of the image enters it
pid=
finish() {
	local status=$?
	[ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid"; } || true
	[ "$status" = 0 ] || cat "$work/out" "$work/log" || true
	rm -rf "$work"
	exit "$status"
}
trap finish EXIT

if [ -n "${1:-}" ]; then
	cp "$1" "$work/kobo"
else
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' -o "$work/kobo" ./cmd/kobo
fi
deploy/rootfs.sh "$work/kobo" "$work/root"
mkdir -p "$work/root/proc" "$work/root/run/secrets" # container runtimes make them too
for name in master_key evidence_key; do
	"$work/kobo" keygen >"$work/root/run/secrets/$name"
	chmod 0444 "$work/root/run/secrets/$name"
done

# Settings with which live mode starts. The database is a file in /var/lib/kobo.
settings=(
	KOBO_DATABASE=sqlite:/var/lib/kobo/kobo.db KOBO_CHECKPOINT_FOLDER=/var/lib/kobo/checkpoints
	KOBO_MASTER_KEY_FILE=/run/secrets/master_key KOBO_EVIDENCE_KEY_FILE=/run/secrets/evidence_key
	ZONEINFO=/usr/share/zoneinfo.zip KOBO_EPOCH_FILE=/var/lib/kobo/epoch
	KOBO_LISTEN=127.0.0.1:18480 KOBO_ADMIN_LISTEN=127.0.0.1:18481 KOBO_METRICS_LISTEN=127.0.0.1:18482
)
while read -r line; do
	case $line in KOBO_*) settings+=("$line") ;; esac
done <deploy/compose.env

# Root becomes user 65532 of this machine. Anybody else becomes user 65532 of a user namespace.
if [ "$(id -u)" = 0 ]; then
	outer=(unshare --mount --pid --fork --kill-child)
	inner='chroot --userspec=65532:65532 "$root" "$@"'
	owner=uid=65532,gid=65532,
else
	outer=(unshare --user --map-root-user --mount --pid --fork --kill-child)
	inner='unshare --user --map-user=65532 --map-group=65532 --root="$root" "$@"'
	owner=
fi
env -i "PATH=$PATH" "${settings[@]}" root="$work/root" owner="$owner" inner="$inner" "${outer[@]}" bash -ec '
	mount --bind "$root" "$root"
	mount -o remount,bind,ro,nosuid "$root"
	mount -t proc proc "$root/proc"
	mount -t tmpfs -o "${owner}mode=0700" tmpfs "$root/var/lib/kobo"
	install -d -m 0700 ${owner:+-o 65532 -g 65532} "$root/var/lib/kobo/checkpoints" # a volume gets it from the image
	in_image() { eval "$inner"; }
	in_image /kobo migrate
	set -- /kobo serve
	eval "exec $inner" &
	serve=$!
	trap "kill $serve" TERM
	for _ in $(seq 100); do
		in_image /kobo ready >/dev/null 2>&1 && break
		kill -0 $serve
		sleep 0.1 # the health check of a container waits in the same way
	done
	echo "ready: $(in_image /kobo ready)"
	cd /
	found=
	for p in "$root"/proc/[0-9]*; do
		[ "$(tr "\0" " " <"$p/cmdline")" = "/kobo serve " ] || continue
		found=yes
		grep -E "^(Uid|CapEff|NoNewPrivs):" "$p/status"
		grep -m1 " / ro," "$p/mountinfo"
		if in_image /kobo keygen --out /new 2>/dev/null; then echo "the root file system can be written"; exit 1; fi
	done
	[ -n "$found" ]
	kill $serve
	wait $serve
' bash >"$work/out" 2>"$work/log" &
pid=$!
wait "$pid" || { pid=; exit 1; }
pid=
cat "$work/out"
grep -q '^ready: .*"status":"ready"' "$work/out"
[ "$(id -u)" != 0 ] || grep -Eq "^Uid:[[:space:]]+65532[[:space:]]+65532" "$work/out"
grep -Eq '^CapEff:[[:space:]]+0+$' "$work/out"
echo 'the image starts read-only, without rights, and is ready'
