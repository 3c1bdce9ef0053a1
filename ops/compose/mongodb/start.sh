#!/bin/sh
# Starts MongoDB with a root user of its own. The password is made at the first start; only this container and
# `mongodb-user` have the volume that it is in. The user is created when the data is empty; see users.js for older data.
set -eu
file=/data/configdb/root-password
if [ ! -s "$file" ]; then
  (umask 077 && head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file.new" && mv "$file.new" "$file")
fi
MONGO_INITDB_ROOT_USERNAME=root
MONGO_INITDB_ROOT_PASSWORD=$(cat "$file")
export MONGO_INITDB_ROOT_USERNAME MONGO_INITDB_ROOT_PASSWORD
exec docker-entrypoint.sh mongod
