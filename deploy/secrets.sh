#!/usr/bin/env bash
# Makes the passwords of the database's roles, a password file for Kobo, the master key, and the evidence
# key. It changes no file that exists.
#
#   deploy/secrets.sh [FOLDER [KOBO]]     without them: deploy/secrets, and the keys from the image
set -euo pipefail
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"
for name in postgres owner serve read; do
	[ -e "$folder/$name" ] || head -c 24 /dev/urandom | base64 | tr '+/' '-_' >"$folder/$name"
done
if [ ! -e "$folder/pgpass" ]; then
	for role in owner serve read; do
		echo "*:*:*:kobo_$role:$(cat "$folder/$role")"
	done >"$folder/pgpass"
fi
for name in master_key evidence_key; do
	[ ! -e "$folder/$name" ] || continue
	if [ -n "${2:-}" ]; then
		"$2" keygen --out "$folder/$name"
	else
		docker compose -f "$(dirname "$0")/compose.yaml" run --rm --no-deps --build migrate keygen >"$folder/$name.new"
		mv "$folder/$name.new" "$folder/$name"
	fi
done

# Containers see the files with these owners and modes. Nobody else on this machine enters the folder.
chmod 0444 "$folder/postgres" "$folder/owner" "$folder/serve" "$folder/read"
if [ "$(id -u)" = 0 ]; then
	chown 65532:65532 "$folder/pgpass" "$folder/master_key" "$folder/evidence_key"
	chmod 0400 "$folder/pgpass" "$folder/master_key" "$folder/evidence_key"
else
	chmod 0444 "$folder/pgpass" "$folder/master_key" "$folder/evidence_key"
fi
