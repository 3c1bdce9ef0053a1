# What trial.sh does before its first step, and its functions. Bash reads it from there.

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
    docker image rm --force "$IMAGE" "$IMAGE-no-avx" "$REGISTRY/node:trial" "$REGISTRY/valkey:trial" >/dev/null 2>&1 || true
  fi
  docker rm --force --volumes "$IMAGE-registry" >/dev/null 2>&1 || true
  rm -rf "$WORK"
  exit "$code"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap '[ "$BASH_SUBSHELL" -gt 0 ] || fail "${BASH_SOURCE[0]##*/}, line $LINENO: $BASH_COMMAND"' ERR

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
# Publishes a newer edition as another machine does: this one still has the first under the name.
publish_elsewhere() {
  local first
  first=$(docker image inspect --format '{{.Id}}' "$REGISTRY/$1:trial")
  publish "$1" "$2" newer
  docker tag "$first" "$REGISTRY/$1:trial"
}
edition_of() { docker inspect --format '{{index .Config.Labels "trial.edition"}}' "$(docker compose ps --quiet "$1")"; }
registry_answers() { curl --silent --fail --max-time 5 --output /dev/null "http://$REGISTRY/v2/"; }

REGISTRY_IMAGE=${REGISTRY_IMAGE:-registry:2}
NODE_OF_TRIAL=$BASE
VALKEY_OF_TRIAL=$BASE_OF_VALKEY
HAS_REGISTRY=no
if docker image inspect "$REGISTRY_IMAGE" >/dev/null 2>&1 ||
  timeout --foreground 300 docker pull --quiet "$REGISTRY_IMAGE" >/dev/null 2>&1; then
  HAS_REGISTRY=yes
  quietly 300 'the registry for newer base images does not start' docker run --detach --name "$IMAGE-registry" \
    --publish "127.0.0.1:${REGISTRY#*:}:5000" "$REGISTRY_IMAGE"
  wait_for 30 'the registry for newer base images does not answer' registry_answers
  publish node "$BASE" first
  publish valkey "$BASE_OF_VALKEY" first
  NODE_OF_TRIAL=$REGISTRY/node:trial
  VALKEY_OF_TRIAL=$REGISTRY/valkey:trial
fi

NET=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
# No part begins with 0: web logs addresses without leading zeros, and the trial compares the texts.
ULA=fd$(random_hex 1):c$(random_hex 1):c$(random_hex 1)
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
NODE_IMAGE=$NODE_OF_TRIAL
VALKEY_IMAGE=$VALKEY_OF_TRIAL
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

# Like a checkout with umask 077.
chmod -R go= .

tallyport() { timeout --foreground 120 docker compose exec -T web node src/cli.ts "$@" </dev/null; }
one_off() {
  timeout --foreground 180 docker compose run --rm -T -v "$BACKUPS:/backups" migrate node src/cli.ts "$@" </dev/null
}
# Whether the input has a line that grep finds. It reads all of the input: if grep stopped at the first such line, the
# program before it in the pipe could fail to write the rest, and the pipe would fail.
finds() {
  local text
  text=$(cat)
  grep -q "$@" <<<"$text"
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
has_arrived() { docker compose logs --no-color listener 2>/dev/null | finds "received a vote of $1\$"; }
arrives() { wait_for "$2" "the vote of $1 did not arrive at the listener within $2 s: $(vote_states)" has_arrived "$1"; }
vote_states() { tallyport vote list my-server 2>&1 | tail -n 5 || true; }
