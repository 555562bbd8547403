#!/usr/bin/env bash
# Makes the root file system of the image from a static binary. The Dockerfile runs it as root, so that
# /var/lib/kobo belongs to the user of the image.
#
#   deploy/rootfs.sh BINARY FOLDER
set -euo pipefail
binary=${1:?the binary} root=${2:?the folder}
cd "$(dirname "$0")/.."

install -D -m 0755 "$binary" "$root/kobo"
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
install -D -m 0644 "$(go env GOROOT)/lib/time/zoneinfo.zip" "$root/usr/share/zoneinfo.zip"
install -D -m 0644 -t "$root/usr/share/doc/kobo" LICENSE THIRD_PARTY_NOTICES
echo 'kobo:x:65532:65532::/var/lib/kobo:' >"$root/etc/passwd"
echo 'kobo:x:65532:' >"$root/etc/group"
install -d -m 0700 "$root/var/lib/kobo" "$root/var/lib/kobo/checkpoints"
if [ "$(id -u)" = 0 ]; then
	chown 65532:65532 "$root/var/lib/kobo" "$root/var/lib/kobo/checkpoints"
fi
