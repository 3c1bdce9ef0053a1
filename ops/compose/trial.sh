#!/usr/bin/env bash
# Runs docker-compose.yml for real, on a copy of this checkout and under a project name of its own.
set -Eeuo pipefail

usage() {
  cat <<'HELP'
Usage: ops/compose/trial.sh [--help]

Tries docker-compose.yml as an operator uses it: builds the image, checks the settings, starts all services with Caddy,
lists a server, casts votes that arrive at a vote listener in a container, changes settings rightly and wrongly, restarts
and kills every service, upgrades to newer base images, takes a backup and restores it, and stops. It takes about five
minutes after the images are there.

It ends with exit code 0, or with 1 at the first thing that is wrong, which it names. Containers, volumes, networks and the
image of the trial are removed at the end, also after Ctrl-C. It needs Docker with Compose 2.24 or newer and curl, and it
changes nothing in this checkout. Your .env is not read.

Environment:
  PORT         the port that Caddy publishes meanwhile, on every address of this machine (3987)
  WEB_PORT     the port of the web process on loopback (3988), and the one after it
  REGISTRY_PORT  the port, on loopback, of a registry for newer base images (3990)
  ENABLE_IPV6  false: without IPv6, as in .env
  NODE_IMAGE, MONGODB_IMAGE, VALKEY_IMAGE, CADDY_IMAGE  as in .env
  REGISTRY_IMAGE  the registry (registry:2)
HELP
}

case "${1:-}" in
'') ;;
-h | --help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac

CHECKOUT=$(cd "$(dirname "$0")/../.." && pwd)
PORT=${PORT:-3987}
WEB_PORT=${WEB_PORT:-3988}
REGISTRY=localhost:${REGISTRY_PORT:-3990}
SITE=http://127.0.0.1:$PORT
IPV6=${ENABLE_IPV6:-true}

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() {
  printf '%4d s  WRONG: %s\n' "$SECONDS" "$*" >&2
  exit 1
}
random_hex() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }

# Runs a command until it succeeds, at most SECONDS_ long.   wait_for SECONDS_ 'what is wrong otherwise' command…
wait_for() {
  local until=$((SECONDS + $1)) wrong=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$until" ] || fail "$wrong"
    sleep 1
  done
}

# Runs a command with its output in a file, which is shown only if it fails.   quietly SECONDS_ 'what is wrong then' command…
quietly() {
  local limit=$1 wrong=$2
  shift 2
  timeout --foreground "$limit" "$@" >"$WORK/output" 2>&1 && return
  tail -n 40 "$WORK/output" >&2
  fail "$wrong"
}

# -- Preparation

command -v curl >/dev/null || fail 'curl is missing'
docker version --format '{{.Server.Version}}' >/dev/null 2>&1 || fail 'no Docker engine answers: docker version'
COMPOSE=$(docker compose version --short 2>/dev/null) || fail 'docker compose is missing'
[ "$(printf '%s\n' 2.24 "${COMPOSE#v}" | sort -V | head -n 1)" = 2.24 ] || fail "Compose $COMPOSE is older than 2.24"
say "Docker $(docker version --format '{{.Server.Version}}'), Compose $COMPOSE"

WORK=$(mktemp -d)
export COMPOSE_PROJECT_NAME=tallyport-trial-$$
IMAGE=$COMPOSE_PROJECT_NAME
BACKUPS=$COMPOSE_PROJECT_NAME-backups

clean() {
  local code=$?
  trap '' INT TERM
  trap - ERR
  say 'removing the containers, volumes, networks and the image of the trial'
  if [ -f "$WORK/app/docker-compose.yml" ]; then
    (cd "$WORK/app" && docker compose down --volumes --remove-orphans --timeout 5) >/dev/null 2>&1 || true
    docker volume rm --force "$BACKUPS" >/dev/null 2>&1 || true
    docker image rm --force "$IMAGE" "$REGISTRY/node:trial" "$REGISTRY/valkey:trial" >/dev/null 2>&1 || true
  fi
  docker rm --force --volumes "$IMAGE-registry" >/dev/null 2>&1 || true
  rm -rf "$WORK"
  exit "$code"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap '[ "$BASH_SUBSHELL" -gt 0 ] || fail "line $LINENO: $BASH_COMMAND"' ERR

mkdir "$WORK/app"
cd "$WORK/app"
for name in docker-compose.yml Dockerfile .dockerignore package.json package-lock.json LICENSE src workers relay ops; do
  cp -R "$CHECKOUT/$name" .
done
# Only the images may come from the shell: other variables would replace those of the trial.
BASE=${NODE_IMAGE:-node:24-slim}
BASE_OF_VALKEY=${VALKEY_IMAGE:-valkey/valkey:9}
while read -r name; do
  case $name in MONGODB_IMAGE | CADDY_IMAGE) ;; *) unset "$name" ;; esac
done < <(grep -oE '\$\{[A-Z0-9_]+' docker-compose.yml | cut -c 3- | sort -u)
unset COMPOSE_FILE COMPOSE_ENV_FILES
export COMPOSE_PROFILES=caddy

# What a registry has under this name from now on: an image with a label that says which edition it is.
#   publish NAME IMAGE EDITION
publish() {
  printf 'FROM %s\nLABEL trial.edition=%s\n' "$2" "$3" |
    timeout --foreground 600 docker build --quiet --tag "$REGISTRY/$1:trial" - >"$WORK/output" 2>&1 &&
    timeout --foreground 600 docker push --quiet "$REGISTRY/$1:trial" >"$WORK/output" 2>&1 ||
    fail "the $3 image of $1 cannot be published: $(cat "$WORK/output")"
}
edition_of() { docker inspect --format '{{index .Config.Labels "trial.edition"}}' "$(docker compose ps --quiet "$1")"; }
registry_answers() { curl --silent --fail --max-time 5 --output /dev/null "http://$REGISTRY/v2/"; }

quietly 300 'the registry for newer base images does not start' docker run --detach --name "$IMAGE-registry" \
  --publish "127.0.0.1:${REGISTRY#*:}:5000" "${REGISTRY_IMAGE:-registry:2}"
wait_for 30 'the registry for newer base images does not answer' registry_answers
publish node "$BASE" first
publish valkey "$BASE_OF_VALKEY" first

NET=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
ULA=fd$(random_hex 1):$(random_hex 2):$(random_hex 2)
TOKEN=$(random_hex 16)
cat >.env <<EOF
PUBLIC_URL=$SITE
PUBLISH=127.0.0.1:$WEB_PORT
PUBLISH_HTTP=$PORT
PUBLISH_HTTPS=0
SITE_HOST=:80
SECRET_KEY=$(random_hex 24)
TRUST_PROXY=1
MONGODB_PASSWORD=$(random_hex 24)
VALKEY_PASSWORD=$(random_hex 24)
NODE_IMAGE=$REGISTRY/node:trial
VALKEY_IMAGE=$REGISTRY/valkey:trial
ENABLE_IPV6=$IPV6
IPV6_SUBNET=$ULA:1::/64
# The listener of the trial is a container with fixed addresses.
ALLOWED_PRIVATE_RANGES=$NET.200/32,$ULA:1::200/128
# A listener that is back is noticed within seconds.
BREAKER_SCHEDULE=2s
DELIVERY_SCHEDULE=0s,2s,2s,2s,2s,2s,2s,2s,2s,2s
EOF
cat >docker-compose.override.yml <<EOF
services:
  web: { image: $IMAGE }
  worker: { image: $IMAGE }
  scheduler: { image: $IMAGE }
  migrate: { image: $IMAGE }
  listener:
    image: $IMAGE
    init: true
    command:
      - node
      - --input-type=module
      - --eval
      - |
        import { VotifierListener } from '/app/src/demo/votifier-listener.ts';
        const onVote = ({ username }) => console.log('received a vote of', username);
        await new VotifierListener({ tokens: { default: '$TOKEN' }, onVote }).start({ host: '0.0.0.0', port: 8192 });
    networks:
      default:
        aliases: [listener.test]
        ipv4_address: $NET.200
        $([ "$IPV6" != true ] || echo "ipv6_address: '$ULA:1::200'")
      visitors: {}
networks:
  # As docs/operating/install.md says about fixed addresses: the subnet of the file and one more.
  default:
    ipam: { config: [{ subnet: "$NET.0/24" }, { subnet: "$ULA:1::/64" }] }
  # Visitors with IPv6: requests to this network's address of the host come from that address.
  visitors:
    enable_ipv6: $IPV6
    ipam: { config: [{ subnet: "$ULA:2::/64" }] }
    driver_opts: { com.docker.network.bridge.enable_ip_masquerade: "false" }
EOF

tallyport() { timeout --foreground 120 docker compose exec -T web node src/cli.ts "$@" </dev/null; }
one_off() {
  timeout --foreground 180 docker compose run --rm -T -v "$BACKUPS:/backups" migrate node src/cli.ts "$@" </dev/null
}
# A web process on a busy machine may answer 503 for a moment; curl then asks again.
ask() { curl --silent --show-error --fail --max-time 60 --retry 10 --retry-delay 2 "$@"; }
healthy() {
  local wrong=$1
  shift
  quietly 340 "$wrong" docker compose up --detach --wait --wait-timeout 300 web worker scheduler caddy "$@"
}
# What docs/operating/install.md puts before each `up`: it starts and stops no service.
config_check() {
  timeout --foreground 120 docker compose run --rm --no-deps -T migrate node src/cli.ts config check >"$WORK/check" 2>&1 </dev/null
}
# Changes a setting in .env, or removes it if the value is empty.   set_env NAME VALUE
set_env() {
  sed "/^$1=/d" .env >"$WORK/env"
  [ -z "$2" ] || echo "$1=$2" >>"$WORK/env"
  cat "$WORK/env" >.env
}
mongosh_as_root() {
  docker compose exec -T mongodb sh -c 'mongosh --quiet -u root -p "$(cat /data/configdb/root-password)" admin --eval "$1"' sh "$1"
}
rights_at_mongodb() {
  docker compose exec -T web node --input-type=module --eval "
    import { MongoClient } from 'mongodb';
    const client = await new MongoClient(process.env.MONGODB_URI).connect();
    const status = await client.db().command({ connectionStatus: 1 });
    console.log(status.authInfo.authenticatedUserRoles.map(({ role, db }) => role + '@' + db).sort().join(' '));
    await client.close();"
}
may_only_use() {
  local rights
  rights=$(rights_at_mongodb) || fail 'the rights at MongoDB cannot be read'
  [ "$rights" = "dbAdmin@$1 readWrite@$1" ] || fail "the processes have these rights at MongoDB: $rights"
}
vote() {
  ask "$SITE/api/v1/servers/$SERVER/vote" --header "Authorization: Bearer $API_TOKEN" --json "{\"username\":\"$1\"}" \
    --header "Idempotency-Key: trial-$1" >"$WORK/output" || fail "the vote of $1 was not accepted through Caddy: $(cat "$WORK/output")"
}
has_arrived() { docker compose logs --no-color listener 2>/dev/null | grep -q "received a vote of $1\$"; }
arrives() { wait_for "$2" "the vote of $1 did not arrive at the listener within $2 s: $(vote_states)" has_arrived "$1"; }
vote_states() { tallyport vote list my-server 2>&1 | tail -n 5 || true; }

# -- The trial

docker compose config --quiet || fail 'Compose refuses docker-compose.yml'
builds=$(docker compose config | grep -c 'dockerfile:')
[ "$builds" = 1 ] || fail "$builds services build the image"
quietly 1200 'the image cannot be built' docker compose build
size=$(docker run --rm "$IMAGE" du -sm /app | cut -f 1)
[ "$size" -lt 180 ] || fail "the image has $size MB above its base: development tools are in it"
say "built once, $size MB above its base of $(docker image inspect --format '{{.Size}}' "$BASE" | awk '{ printf "%.0f MB", $1 / 1e6 }')"

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

quietly 60 'the listener does not start' docker compose up --detach listener
healthy 'not every service is healthy after up'
say 'up: every service is healthy'

migrations=$(tallyport migrate --list)
if grep -q pending <<<"$migrations"; then fail "a migration is pending: $migrations"; fi
checked=$(tallyport config check --connect) || fail "config check --connect: $checked"
say 'migrated, and config check --connect finds no error'

ask "$SITE/" | grep -qi '<html' || fail 'Caddy does not pass on the ranking'
[ "$(ask --output /dev/null --write-out '%{http_code}' "$SITE/readyz")" = 200 ] || fail '/readyz is not 200 through Caddy'
say 'the site answers through Caddy'

tallyport operator create --email operator@example.org | grep -q 'set-password?token=' || fail 'no operator was created'
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
  [ "$service" = listener ] || grep -q '"max-file":"[0-9]*","max-size":"[0-9]*m"' <<<"$log" || fail "the log of $service is not rotated: $log"
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
  ask "http://127.0.0.1:$port/" | grep -q 'Two web processes since today' || fail "web at port $port does not have the new setting"
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
for name in node valkey; do
  first=$(docker image inspect --format '{{.Id}}' "$REGISTRY/$name:trial")
  publish "$name" "$first" newer
  docker tag "$first" "$REGISTRY/$name:trial"
done
# As if the new version had one more migration than the old one.
mongosh_as_root 'db.getSiblingDB("tallyport").migrations.deleteOne({ _id: "0001-complete-servers" })' >/dev/null
# As docs/operating/every-day.md says. Only Valkey of the images that are not built, since the others are in no registry here.
quietly 1200 'the image cannot be built on a newer base' docker compose build --pull
quietly 600 'newer images cannot be pulled' docker compose --profile caddy pull --ignore-buildable valkey
one_off backup /backups/before >"$WORK/output" 2>&1 || fail "backup before the upgrade: $(tail -n 20 "$WORK/output")"
one_off migrate --list | grep -q 'complete-servers.*pending' || fail 'the backup before the upgrade has migrated the database'
config_check || fail "config check of the new version: $(tail -n 20 "$WORK/check")"
[ "$(edition_of web)" = first ] || fail 'the running site was replaced before the migration'
quietly 300 'the migration of the new version fails' docker compose run --rm -T migrate
one_off migrate --list >"$WORK/output"
! grep -q pending "$WORK/output" || fail "a migration is pending after the upgrade: $(cat "$WORK/output")"
healthy 'not every service is healthy after the upgrade'
for service in web worker scheduler valkey; do
  [ "$(edition_of "$service")" = newer ] || fail "$service has the old base image after the upgrade"
done
vote Upgraded
arrives Upgraded 60
say 'upgrade: a backup before the migration, then the newer base images'

one_off backup /backups/one >"$WORK/output" 2>&1 || fail "backup: $(tail -n 20 "$WORK/output")"
quietly 120 'the processes cannot be stopped' docker compose stop web worker scheduler
# As docs/operating/when-something-is-wrong.md says: name the new database in .env.
set_env MONGODB_DATABASE restored
one_off restore /backups/one >"$WORK/output" 2>&1 || fail "restore: $(tail -n 20 "$WORK/output")"
healthy 'not every service is healthy after a restore'
ask "$SITE/api/v1/servers/$SERVER/check-vote?username=First" --header "Authorization: Bearer $API_TOKEN" |
  grep -q '"has_voted":true' ||
  fail 'the restored database does not know the first vote'
cmp -s docker-compose.yml "$CHECKOUT/docker-compose.yml" || fail 'the restore changed docker-compose.yml'
say 'backup, and restore into another database, which .env names'

may_only_use restored

# As in the volume of an earlier Compose file.
mongosh_as_root 'db.grantRolesToUser("tallyport", ["root"]); db.dropUser("root")' >/dev/null
docker compose exec -T mongodb rm /data/configdb/root-password
quietly 60 'MongoDB cannot be restarted' docker compose restart mongodb
healthy 'not every service is healthy with the MongoDB volume of an earlier Compose file'
may_only_use restored
say 'the MongoDB volume of an earlier Compose file: the processes lose the rights of root'

quietly 120 'the services cannot be stopped' docker compose stop
for service in web worker scheduler mongodb valkey caddy; do
  code=$(docker inspect --format '{{.State.ExitCode}}' "$(docker compose ps --all --quiet "$service")")
  [ "$code" = 0 ] || fail "$service stopped with exit code $code"
done
say 'stopped: every exit code is 0'
say 'The Compose file works.'
