#!/bin/sh
# Brings the schemas of Temporal's two stores to the version of this image; may be run again.
# The connection is described by the SQL_* variables that temporal-sql-tool reads.
set -eu

SCHEMAS=${SCHEMAS:-/etc/temporal/schema/postgresql/v12}

store() {
    temporal-sql-tool --database "$1" setup-schema --version 0.0
    temporal-sql-tool --database "$1" update-schema --schema-dir "$SCHEMAS/$2/versioned"
}

store temporal temporal
store temporal_visibility visibility
