#!/usr/bin/env bash
# Makes the passwords of the database's roles, a password file for each role of Kobo, the master key, and
# the evidence key. It changes no file that exists.
#
#   deploy/secrets.sh [FOLDER [KOBO]]     without them: deploy/secrets, and the keys from the image
set -euo pipefail
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"
for name in postgres owner serve read; do
	[ -e "$folder/$name" ] || head -c 24 /dev/urandom | base64 | tr '+/' '-_' >"$folder/$name"
done
for role in owner serve; do # kobo serve never sees the owner's password
	[ -e "$folder/pgpass_$role" ] || echo "*:*:*:kobo_$role:$(cat "$folder/$role")" >"$folder/pgpass_$role"
done
mkdir -p "$folder/keys" # a folder, because kobo key replaces the files in it
for name in master.key evidence.key; do
	[ ! -e "$folder/keys/$name" ] || continue
	if [ -n "${2:-}" ]; then
		"$2" keygen --out "$folder/keys/$name"
	else
		docker compose -f "$(dirname "$0")/compose.yaml" run --rm --no-deps --build migrate keygen >"$folder/keys/$name.new"
		mv "$folder/keys/$name.new" "$folder/keys/$name"
	fi
done

# Containers see the files with these owners and modes. Nobody else on this machine enters the folder.
chmod 0444 "$folder/postgres" "$folder/owner" "$folder/serve" "$folder/read"
if [ "$(id -u)" = 0 ]; then
	chown 65532:65532 "$folder"/pgpass_* "$folder/keys" "$folder/keys"/*
	chmod 0400 "$folder"/pgpass_* "$folder/keys"/*
else
	chmod 0444 "$folder"/pgpass_* "$folder/keys"/*
	chmod 0755 "$folder/keys"
fi
