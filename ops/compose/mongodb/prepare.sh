#!/bin/sh
# Runs before MongoDB starts, as root: says if this processor cannot run it, makes the password of MongoDB's root user at
# the first start, and copies users.js for `mongodb-user`, since a checkout may be readable by its owner alone. Only
# it, `mongodb` and `mongodb-user` have the volume. The user is created when the data is empty, or by users.js.
set -eu
code=0
mongod --version >/dev/null || code=$?
if [ "$code" = 132 ]; then
  echo "This processor cannot run MongoDB: mongod ended with an illegal instruction (132). MongoDB 5 and newer needs AVX
(in a virtual machine, set its processor type to “host”) or, on ARM, ARMv8.2 (a Raspberry Pi 5, not 4). Otherwise run
MongoDB on another machine: see “A processor without AVX” in docs/operating/install.md." >&2
fi
[ "$code" = 0 ] || exit "$code"

file=/data/configdb/root-password
if [ ! -s "$file" ]; then
  (umask 077 && head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file.new")
  chown mongodb:mongodb "$file.new"
  mv "$file.new" "$file"
fi
install -m 644 /tallyport/users.js /data/configdb/users.js
