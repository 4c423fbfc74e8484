#!/bin/sh
# Replaces the containers of services by new ones of the current image, without an outage:
#   docker/replace.sh features search      or without names: every service that runs, in the order of docs/upgrading.md
# For each service it starts as many new containers as there are old ones, waits until all of them are healthy, and only then stops the old
# ones. If that does not happen within WAIT_SECONDS (120), it removes the new ones, keeps the old ones, and ends with exit code 1. The
# gateway needs the profile balanced: with a fixed PORT two gateways cannot run side by side. Before the first one NATS reads the rights of the
# services' users again, since a new version calls what the version before had no right to.
set -eu
cd "$(dirname "$0")/.."
wait_seconds=${WAIT_SECONDS:-120}
names=$*
[ $# -gt 0 ] || set -- features gateway audit search change-requests integrations
replaced=

running() { docker compose ps --quiet "$1"; }
count() { echo "$1" | grep -c . || true; }
# new SERVICE OLD: its containers that are not among the old ones, also those that have ended
new() { docker compose ps --all --quiet "$1" | grep -vxF "$2" || true; }
are_healthy() {
  for container; do
    [ "$(docker inspect --format '{{.State.Health.Status}}' "$container" 2>/dev/null)" = healthy ] || return 1
  done
}
# fail SERVICE OLD REASON: removes the new containers, and ends
fail() {
  echo "$1: $3; the last lines of the new containers:" >&2
  for container in $(new "$1" "$2"); do
    docker logs --tail 20 "$container" >&2 || true
    docker rm --force "$container" >/dev/null
  done
  echo "$1: removed them; the old containers still serve. Replaced before: ${replaced:-none}" >&2
  exit 1
}

rights_are_read=
# Lets NATS read docker/nats/nats.conf again, which closes no connection. Not by `docker kill`, after which older engines restart no container.
read_rights() {
  [ -z "$rights_are_read" ] || return 0
  rights_are_read=yes
  [ -n "$(running nats)" ] || return 0
  if docker compose exec -T nats cat /etc/nats/nats.conf | cmp -s - docker/nats/nats.conf; then
    docker compose exec -T nats sh -c 'kill -HUP 1'
  else
    echo 'nats: its container has other rights than docker/nats/nats.conf, and is created anew'
    docker compose up --detach --no-deps --force-recreate nats
  fi
}

for service; do
  old=$(running "$service")
  wanted=$(count "$old")
  if [ "$wanted" -eq 0 ]; then
    echo "$service does not run: start it with docker compose up." >&2
    [ -z "$names" ] || exit 1
    continue
  fi
  read_rights
  # Containers that have ended would be started again, with their old image.
  docker compose rm --force "$service"
  echo "$service: starting $wanted new"
  docker compose up --detach --no-deps --no-recreate --scale "$service=$((2 * wanted))" "$service" ||
    fail "$service" "$old" 'docker compose could not start new containers'
  waited=0
  until [ "$(count "$(new "$service" "$old")")" -eq "$wanted" ] && are_healthy $(new "$service" "$old"); do
    [ "$waited" -lt "$wait_seconds" ] || fail "$service" "$old" "there are not $wanted new healthy containers after $wait_seconds s"
    sleep 1
    waited=$((waited + 1))
  done
  echo "$service: stopping $wanted old"
  for container in $old; do
    docker stop --time 75 "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
  replaced="$replaced$service "
done
[ -n "$replaced" ] || exit 1
echo "Replaced: ${replaced% }"
