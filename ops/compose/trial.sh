#!/usr/bin/env bash
# Runs docker-compose.yml for real, on a copy of this checkout and under a project name of its own.
set -Eeuo pipefail

usage() {
  cat <<'HELP'
Usage: ops/compose/trial.sh [--help]

Tries docker-compose.yml as an operator uses it: builds the image, checks the settings, starts all services with Caddy,
lists a server, casts votes that arrive at a vote listener in a container, changes settings rightly and wrongly, restarts
and kills every service, upgrades to newer base images, takes a backup and restores it, damages
the file of Valkey, and stops. It takes about five minutes after the images are there.

It ends with exit code 0, or with 1 at the first thing that is wrong, which it names. Containers, volumes, networks and the
image of the trial are removed at the end, also after Ctrl-C. It needs Docker with Compose 2.24 or newer and curl, and it
changes nothing in this checkout. Your .env is not read.

Environment:
  PORT         the port that Caddy publishes meanwhile, on every address of this machine (3987)
  WEB_PORT     the port of the web process on loopback (3988), and the one after it
  REGISTRY_PORT  the port, on loopback, of a registry for newer base images (3990)
  ENABLE_IPV6  false: without IPv6, as in .env
  NODE_IMAGE, MONGODB_IMAGE, VALKEY_IMAGE, CADDY_IMAGE  as in .env
  REGISTRY_IMAGE  the registry (registry:2); without it, newer base images are not tried
HELP
}

case "${1:-}" in
'') ;;
-h | --help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac

CHECKOUT=$(cd "$(dirname "$0")/../.." && pwd)
. "$CHECKOUT/ops/compose/prepare-trial.sh"

docker compose config --quiet || fail 'Compose refuses docker-compose.yml'
builds=$(docker compose config | grep -c 'dockerfile:')
[ "$builds" = 1 ] || fail "$builds services build the image"
quietly 1200 'the image cannot be built' docker compose build
size=$(docker run --rm "$IMAGE" du -sm /app | cut -f 1)
[ "$size" -lt 180 ] || fail "Tallyport takes $size MB of the image: development tools are in it"
say "built once: Tallyport takes $size MB, its base $(docker image inspect --format '{{.Size}}' "$BASE" | awk '{ printf "%.0f MB", $1 / 1e6 }')"

config_check || fail "config check before the first start: $(tail -n 20 "$WORK/check")"
grep -q '^0 errors' "$WORK/check" || fail "config check before the first start: $(tail -n 5 "$WORK/check")"
set_env WEB_VOTES maybe
! config_check || fail 'config check finds nothing wrong with WEB_VOTES=maybe'
grep -q WEB_VOTES "$WORK/check" || fail "config check does not name WEB_VOTES: $(tail -n 5 "$WORK/check")"
set_env WEB_VOTES ''
[ -z "$(docker compose ps --all --quiet)" ] || fail "config check made containers: $(docker compose ps --all)"
say 'config check before the first start: no service starts for it, and it names a wrong setting'

! one_off config check --connect >"$WORK/check" 2>&1 || fail 'config check --connect says that an empty database is migrated'
grep -qE '(Redis|Valkey) .* answers' "$WORK/check" && grep -q '^1 error' "$WORK/check" && grep -q 'not migrated' "$WORK/check" ||
  fail "config check --connect before the first start: $(tail -n 20 "$WORK/check")"
say 'config check --connect before the first start: it reaches MongoDB and Valkey and misses only the migrations'

# As on a processor without AVX: there mongod ends with an illegal instruction.
printf 'FROM %s\nUSER root\nRUN printf "#!/bin/sh\\nexit 132\\n" >/usr/bin/mongod\n' "${MONGODB_IMAGE:-mongo:8}" |
  timeout --foreground 300 docker build --quiet --tag "$IMAGE-no-avx" - >"$WORK/output" 2>&1 ||
  fail "an image whose mongod ends with 132 cannot be built: $(cat "$WORK/output")"
! MONGODB_IMAGE=$IMAGE-no-avx timeout --foreground 120 docker compose up --detach >"$WORK/output" 2>&1 ||
  fail 'up says that everything has started where mongod ends with 132'
grep -q 'mongodb-prepare' "$WORK/output" || fail "up does not name mongodb-prepare: $(tail -n 5 "$WORK/output")"
docker compose logs --no-color mongodb-prepare | finds 'AVX' || fail 'the log of mongodb-prepare does not name AVX'
quietly 60 'the services cannot be removed' docker compose down --volumes --timeout 2
say 'a processor that cannot run MongoDB: up ends at once, and the log of mongodb-prepare says why'

quietly 60 'the listener does not start' docker compose up --detach listener
healthy 'not every service is healthy after up'
say 'up from a checkout that its owner alone may read: every service is healthy'

migrations=$(tallyport migrate --list)
if grep -q pending <<<"$migrations"; then fail "a migration is pending: $migrations"; fi
checked=$(tallyport config check --connect) || fail "config check --connect: $checked"
say 'migrated, and config check --connect finds no error'

ask "$SITE/" | finds -i '<html' || fail 'Caddy does not pass on the ranking'
[ "$(ask --output /dev/null --write-out '%{http_code}' "$SITE/readyz")" = 200 ] || fail '/readyz is not 200 through Caddy'
say 'the site answers through Caddy'

tallyport operator create --email operator@example.org | finds 'set-password?token=' || fail 'no operator was created'
SERVER=$(tallyport server add --name 'My server' --address play.example.org --port 25565 --json |
  grep -oE '[0-9a-f]{24}' | head -n 1)
API_TOKEN=$(tallyport token issue my-server --json | grep -oE 'tp_[A-Za-z0-9]+')
tallyport listener set my-server --protocol votifier-v2 --host listener.test --port 8192 --token "$TOKEN" >/dev/null
say 'an operator, a server, a token and a listener'

vote First
arrives First 30
say 'a vote arrived at the listener'

picture=$(ask --output /dev/null --write-out '%{content_type}' "$SITE/servers/my-server/card.png") ||
  fail 'the preview image is not answered'
[ "$picture" = image/png ] || fail "the preview image is $picture"
say 'the preview image is drawn'

for service in web worker scheduler; do
  docker compose exec -T "$service" sh -c '! touch /app/x 2>/dev/null && touch /tmp/x && [ "$(id -u)" = 1000 ] &&
    grep -q "CapEff:.0000000000000000" /proc/1/status && grep -q "NoNewPrivs:.1" /proc/1/status' ||
    fail "$service: not confined (read-only files, user 1000, no capabilities, no new privileges)"
done
say 'confined: read-only files, user 1000, no capabilities'

for service in mongodb valkey; do
  if docker compose exec -T caddy getent hosts "$service" >/dev/null; then fail "caddy can look up $service"; fi
done
for service in $(docker compose config --services); do
  limits=$(docker inspect --format '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}' \
    "$(docker compose ps --all --quiet "$service")")
  [ "$service" = listener ] || ! grep -qwE '0|<nil>' <<<"$limits" || fail "$service has no limit of memory or processes: $limits"
  log=$(docker inspect --format '{{json .HostConfig.LogConfig}}' "$(docker compose ps --all --quiet "$service")")
  [ "$service" = listener ] || finds '"max-file":"[0-9]*","max-size":"[0-9]*m"' <<<"$log" || fail "the log of $service is not rotated: $log"
done
patience=$(docker inspect --format '{{.Config.Healthcheck.StartPeriod}}' "$(docker compose ps --quiet mongodb)")
[ "$patience" = 1h0m0s ] || fail "MongoDB may take only $patience to start"
for name in mongodb-memory-server vitest typescript; do
  docker compose exec -T web test ! -e "node_modules/$name" || fail "the image has the development tool $name"
done
may_only_use tallyport
say 'least privilege: no way from Caddy to the databases, limits everywhere, no tools in the image, one database'
say 'logs are rotated, and MongoDB may start slowly'

# The address by which web knows a client is in the log line of a refused sign-in.
sign_in() {
  curl --silent --globoff --max-time 35 --output /dev/null "http://$1/sign-in" --header "Origin: $SITE" \
    --data 'email=visitor@example.org&password=wrong-password'
}
address_in_log() {
  docker compose logs --no-color --no-log-prefix web | grep account.sign_in_refused | grep -oE '"address":"[^"]*"' |
    tail -n 1 | cut -d '"' -f 4
}
is_in_log() { [ -n "$(address_in_log)" ]; }
if [ "$IPV6" = true ] && grep -q enable_ipv6 docker-compose.yml; then
  sign_in "[$ULA:2::1]:$PORT" || fail 'nothing answers on IPv6'
  wait_for 10 'the refused sign-in is not in the log of web' is_in_log
  seen=$(address_in_log)
  [ "$seen" = "$ULA:2::1" ] || fail "web takes a client with $ULA:2::1 for $seen: all IPv6 visitors share an address. \
Docker before 27 needs \"ip6tables\": true and \"experimental\": true in daemon.json"
  sign_in "[::1]:$PORT" || fail 'nothing answers on [::1]'
  say "web knows IPv6 visitors by their own address ($seen)"
fi

awk -v server="$SERVER" 'BEGIN { for (i = 0; i < 1000000; i++) printf "{\"server_id\":\"%s\",\"username\":\"Player%d\",\"voted_at\":\"2026-0%d-%02dT%02d:%02d:%02dZ\"}\n",
  server, i * 7919 % 1000003, 1 + i % 8, 1 + i % 28, i % 24, i % 60, i * 7 % 60 }' >"$WORK/votes"
timeout --foreground 300 docker compose exec -T web node src/cli.ts import votes - --dry-run <"$WORK/votes" >"$WORK/output" 2>&1 ||
  fail "an import of 100 MB through exec fails: $(tail -n 5 "$WORK/output")"
say "an import of $(du -m "$WORK/votes" | cut -f 1) MB through exec: $(head -n 1 "$WORK/output")"

errors=$(docker compose logs --no-color web worker scheduler migrate | grep -E '"level":"(error|fatal)"' || true)
[ -z "$errors" ] || fail "errors in the log: $errors"
errors=$(docker compose logs --no-color caddy | grep -E '"level":"(error|fatal|panic)"' || true)
[ -z "$errors" ] || fail "errors in the log of Caddy: $errors"
say 'no error in any log'

containers=$(docker compose ps --quiet | sort)
set_env WEB_VOTES maybe
! config_check || fail 'config check finds nothing wrong with WEB_VOTES=maybe'
[ "$(docker compose ps --quiet | sort)" = "$containers" ] || fail 'config check replaced containers of the running site'
vote Unimpressed
arrives Unimpressed 30
set_env WEB_VOTES ''
say 'a wrong setting, found by config check: the running site goes on'

set_env PUBLISH "127.0.0.1:$WEB_PORT-$((WEB_PORT + 1))"
set_env NOTICE 'Two web processes since today.'
config_check || fail "config check of a right setting: $(tail -n 20 "$WORK/check")"
healthy 'a second web process does not start' --scale web=2
for port in "$WEB_PORT" "$((WEB_PORT + 1))"; do
  ask "http://127.0.0.1:$port/" | finds 'Two web processes since today' || fail "web at port $port does not have the new setting"
done
vote Two
arrives Two 30
say 'a changed setting and a range of ports: two web processes answer'
set_env NOTICE ''
set_env PUBLISH "127.0.0.1:$WEB_PORT"
healthy 'one web process is not healthy after two'

quietly 60 'the listener does not stop' docker compose stop --timeout 2 listener
vote Second
quietly 300 'the services cannot be restarted' docker compose restart mongodb valkey web worker scheduler caddy
healthy 'not every service is healthy after a restart'
if has_arrived Second; then fail 'the listener is stopped and got a vote'; fi
quietly 60 'the listener does not start' docker compose start listener
arrives Second 90
say 'restart of every service: a vote that waited arrived'

quietly 60 'the listener does not stop' docker compose stop --timeout 2 listener
vote Third
quietly 60 'the services cannot be killed' docker compose kill
healthy 'not every service is healthy after a kill'
quietly 60 'the listener does not start' docker compose start listener
arrives Third 120
say 'kill of every service: healthy again, a vote that waited arrived'

docker volume create "$BACKUPS" >/dev/null
docker run --rm --user 0 --volume "$BACKUPS:/backups" "$IMAGE" chown 1000 /backups

# Upstream publishes newer images. This machine still has the first ones under their names.
if [ "$HAS_REGISTRY" = yes ]; then
  publish_elsewhere node "$BASE"
  publish_elsewhere valkey "$BASE_OF_VALKEY"
fi
# As if the new version had one more migration than the old one.
mongosh_as_root 'db.getSiblingDB("tallyport").migrations.deleteOne({ _id: "0001-complete-servers" })' >/dev/null
# As docs/operating/every-day.md says. Only Valkey of the images that are not built, since the others are in no registry here.
if [ "$HAS_REGISTRY" = yes ]; then
  quietly 1200 'the image cannot be built on a newer base' docker compose build --pull
  quietly 600 'newer images cannot be pulled' docker compose --profile caddy pull --ignore-buildable valkey
fi
one_off backup /backups/before >"$WORK/output" 2>&1 || fail "backup before the upgrade: $(tail -n 20 "$WORK/output")"
one_off migrate --list >"$WORK/output" 2>/dev/null
grep -q 'complete-servers.*pending' "$WORK/output" || fail "the backup before the upgrade has migrated the database: $(cat "$WORK/output")"
config_check || fail "config check of the new version: $(tail -n 20 "$WORK/check")"
[ "$HAS_REGISTRY" = no ] || [ "$(edition_of web)" = first ] || fail 'the running site was replaced before the migration'
quietly 300 'the migration of the new version fails' docker compose run --rm -T migrate
one_off migrate --list >"$WORK/output" 2>/dev/null
! grep -q pending "$WORK/output" || fail "a migration is pending after the upgrade: $(cat "$WORK/output")"
healthy 'not every service is healthy after the upgrade'
for service in web worker scheduler valkey; do
  [ "$HAS_REGISTRY" = no ] || [ "$(edition_of "$service")" = newer ] || fail "$service has the old base image after the upgrade"
done
vote Upgraded
arrives Upgraded 60
if [ "$HAS_REGISTRY" = yes ]; then
  say 'upgrade: a backup before the migration, then the newer base images'
else
  say "upgrade: a backup before the migration. NOT TRIED: newer base images, since there is no $REGISTRY_IMAGE"
fi

one_off backup /backups/one >"$WORK/output" 2>&1 || fail "backup: $(tail -n 20 "$WORK/output")"
quietly 120 'the processes cannot be stopped' docker compose stop web worker scheduler
# As docs/operating/when-something-is-wrong.md says: name the new database in .env.
set_env MONGODB_DATABASE restored
one_off restore /backups/one >"$WORK/output" 2>&1 || fail "restore: $(tail -n 20 "$WORK/output")"
healthy 'not every service is healthy after a restore'
ask "$SITE/api/v1/servers/$SERVER/check-vote?username=First" --header "Authorization: Bearer $API_TOKEN" |
  finds '"has_voted":true' ||
  fail 'the restored database does not know the first vote'
cmp -s docker-compose.yml "$CHECKOUT/docker-compose.yml" || fail 'the restore changed docker-compose.yml'
say 'backup, and restore into another database, which .env names'

may_only_use restored

# As in the volume of an earlier Compose file.
mongosh_as_root 'db.grantRolesToUser("tallyport", ["root"]); db.dropUser("root")' >/dev/null
docker compose exec -T mongodb rm /data/configdb/root-password
quietly 60 'the services cannot be removed' docker compose down
healthy 'not every service is healthy with the MongoDB volume of an earlier Compose file'
may_only_use restored
say 'the MongoDB volume of an earlier Compose file: the processes lose the rights of root'

# As after a crash of the machine or on a full disk: Valkey does not start with such a file.
quietly 60 'the services cannot be stopped' docker compose stop
quietly 60 'the file of Valkey cannot be damaged' docker run --rm --user 0 --volume "${COMPOSE_PROJECT_NAME}_valkey:/data" "$IMAGE" \
  sh -c 'for file in /data/appendonlydir/*.incr.aof; do printf "damaged\n" >>"$file"; done'
quietly 120 'up fails while Valkey does not start' docker compose up --detach
web_answers() { curl --silent --fail --max-time 5 --output /dev/null "$SITE/readyz"; }
wait_for 60 'the site does not answer while Valkey does not start' web_answers
vote WithoutValkey
names_volume() { docker compose logs --no-color web | finds 'volume “valkey”'; }
wait_for 30 'the log of web does not name the volume that may be deleted' names_volume
# As docs/operating/install.md says.
quietly 60 'Valkey cannot be removed' docker compose rm --stop --force valkey
quietly 60 'the volume of Valkey cannot be deleted' docker volume rm "${COMPOSE_PROJECT_NAME}_valkey"
healthy 'not every service is healthy without the data of Valkey'
arrives WithoutValkey 60
say 'a damaged file of Valkey: the site starts, takes votes and names the volume; without it everything goes on'

quietly 120 'the services cannot be stopped' docker compose stop
for service in web worker scheduler mongodb valkey caddy; do
  code=$(docker inspect --format '{{.State.ExitCode}}' "$(docker compose ps --all --quiet "$service")")
  [ "$code" = 0 ] || fail "$service stopped with exit code $code"
done
say 'stopped: every exit code is 0'
say 'The Compose file works.'
