#!/bin/sh
# Run once, by the database's image, when its volume is empty: one account for each program, which
# owns its databases and nothing else.
set -eu

account() {
    name=$1
    password=$2
    shift 2
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" \
        --dbname=postgres --set=name="$name" --set=password="$password" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
SQL
    for database in "$@"; do
        createdb --username="${POSTGRES_USER:-postgres}" --owner="$name" "$database"
        psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" \
            --dbname="$database" --command="REVOKE CONNECT ON DATABASE \"$database\" FROM PUBLIC"
    done
}

account jeroboam "${JEROBOAM_DATABASE_PASSWORD:?}" jeroboam
account temporal "${TEMPORAL_DATABASE_PASSWORD:?}" temporal temporal_visibility
