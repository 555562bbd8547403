#!/usr/bin/env bash
# Creates the database and the roles of Kobo, once, as a superuser (docs/operating/growth.md). psql's own
# variables (PGHOST, PGUSER, …) choose the server. The files owner, serve and read hold the passwords.
#
#   deploy/roles.sh [FOLDER]     without one: /run/secrets, as in compose.yaml
set -euo pipefail
secrets=${1:-/run/secrets}
owner=$(cat "$secrets/owner") serve=$(cat "$secrets/serve") read=$(cat "$secrets/read")
export owner serve read
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${PGUSER:-postgres}" --dbname postgres <<'SQL'
\getenv owner owner
\getenv serve serve
\getenv read read
CREATE ROLE kobo_owner LOGIN PASSWORD :'owner';
CREATE ROLE kobo_serve LOGIN PASSWORD :'serve';
CREATE ROLE kobo_read LOGIN PASSWORD :'read';
CREATE DATABASE kobo OWNER kobo_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE kobo FROM PUBLIC;
GRANT CONNECT ON DATABASE kobo TO kobo_serve, kobo_read;
\connect kobo
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO kobo_owner WITH GRANT OPTION;
SQL
