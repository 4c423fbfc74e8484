#!/bin/sh
# Replaces the containers of services by new ones of the current image, without an outage:
#   docker/replace.sh features search      or without names: every service, in the order of docs/upgrading.md
# For each service it starts as many new containers as there are old ones, waits until they are healthy, and only then stops the old ones.
# If the new ones do not become healthy within WAIT_SECONDS (120), it removes them, keeps the old ones, and ends with exit code 1. The gateway
# needs the profile balanced: with a fixed PORT two gateways cannot run side by side.
set -eu
cd "$(dirname "$0")/.."
wait_seconds=${WAIT_SECONDS:-120}
[ $# -gt 0 ] || set -- features change-requests audit search gateway

containers() { docker compose ps --quiet "$1"; }
is_healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' "$1" 2>/dev/null)" = healthy ]; }

for service; do
  old=$(containers "$service")
  count=$(echo "$old" | grep -c . || true)
  if [ "$count" -eq 0 ]; then
    echo "$service does not run: start it with docker compose up." >&2
    exit 1
  fi
  echo "$service: starting $count new"
  docker compose up --detach --no-deps --no-recreate --scale "$service=$((2 * count))" "$service"
  new=$(containers "$service" | grep -vxF "$old" || true)
  waited=0
  for container in $new; do
    until is_healthy "$container"; do
      if [ "$waited" -ge "$wait_seconds" ]; then
        echo "$service: the new containers are not healthy after $wait_seconds s; their last lines:" >&2
        docker logs --tail 20 "$container" >&2 || true
        docker rm --force $new >/dev/null
        echo "$service: removed them; the old containers still serve." >&2
        exit 1
      fi
      sleep 1
      waited=$((waited + 1))
    done
  done
  echo "$service: stopping $count old"
  for container in $old; do
    docker stop --time 75 "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
done
echo "Replaced: $*"
