#!/bin/sh
# Creates the users and databases of the services, or replaces their passwords. Run it where psql is, with a superuser in PGHOST, PGUSER
# and PGPASSWORD (or PGPASSWORD_FILE) and the passwords in PGOPTIONS (or PGOPTIONS_FILE), as docker/setup.sh writes them.
set -eu
here=$(dirname "$0")
if [ -n "${PGPASSWORD_FILE:-}" ]; then PGPASSWORD=$(cat "$PGPASSWORD_FILE"); fi
if [ -n "${PGOPTIONS_FILE:-}" ]; then PGOPTIONS=$(cat "$PGOPTIONS_FILE"); fi
export PGPASSWORD PGOPTIONS
run() { psql -v ON_ERROR_STOP=1 -qAt -d postgres "$@"; }

run -f "$here/roles.sql"
for service in features change_requests audit search integrations gateway; do
  database=bunting_$service
  if [ -z "$(run -c "select 1 from pg_database where datname = '$database'")" ]; then
    # builtin: the same order of texts on every machine
    run -c "create database $database owner $database template template0 encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8' locale 'C.UTF-8'"
    echo "Created the database $database."
  fi
done
run -f "$here/roles.sql"
echo "The users and databases of the services are ready."
