#!/bin/sh
# Writes what the compose file needs into docker/secrets, each secret once, and keeps what is there:
#   docker/setup.sh           the secrets
#   docker/setup.sh --start   the secrets, then `docker compose up --build --wait`
# BUNTING_SECRETS names another folder, e.g. to make secrets for another machine; the compose file reads docker/secrets.
# Put further secrets of a service, such as a password for mail, into docker/secrets/<service> and make them readable (chmod 0444).
# The folder docker/secrets is readable by its owner alone; its files are mounted into the containers that need them, whose users differ.
set -eu
cd "$(dirname "$0")/.."
folder=${BUNTING_SECRETS:-docker/secrets}
if [ "${1:-}" = --start ] && [ -n "${BUNTING_SECRETS:-}" ]; then
  echo 'The compose file reads docker/secrets: unset BUNTING_SECRETS, or leave out --start.' >&2
  exit 1
fi
case ${1:-} in '' | --start) ;; *) echo "docker/setup.sh does not know the option $1." >&2 && exit 1 ;; esac
umask 077
mkdir -p "$folder"
chmod 0700 "$folder"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
# write NAME: stores its standard input as the secret NAME, unless there is one
write() {
  if [ -s "$folder/$1" ]; then cat >/dev/null; else cat >"$folder/.$1" && mv "$folder/.$1" "$folder/$1"; fi
  chmod 0444 "$folder/$1"
}
services='features change-requests audit search integrations gateway'
variable() { echo "$1" | tr a-z- A-Z_; }
underscored() { echo "$1" | tr - _; }

# Further secrets of one service, which its settings name as /run/secrets/<service>/<file>.
for service in $services; do
  mkdir -p "$folder/$service"
  chmod 0755 "$folder/$service"
done

random | write postgres_password
random | write meilisearch_key
random | write admin_token
random | write token_key
random | write integrations_key
for service in $services; do
  random | write "$service"_nats_password
  if [ ! -s "$folder/$service"_database_url ]; then
    echo "postgres://bunting_$(underscored "$service"):$(random)@${POSTGRES_ADDRESS:-postgres:5432}/bunting_$(underscored "$service")" |
      write "$service"_database_url
  fi
done
# The gateway signs the callers of its calls with this key. To replace it, see docs/operations.md.
if [ ! -s "$folder/caller_key" ]; then
  if ! command -v openssl >/dev/null; then
    echo 'openssl is missing, which makes the key that the gateway signs callers with: install it.' >&2
    exit 1
  fi
  openssl genpkey -algorithm ed25519 -out "$folder/.key"
  write caller_key <"$folder/.key"
  rm "$folder/.key"
fi
[ -s "$folder/caller_public_keys" ] || openssl pkey -in "$folder/caller_key" -pubout | write caller_public_keys
# Made of the others, so they are written again each time.
rm -f "$folder/nats_passwords" "$folder/postgres_roles" "$folder/meilisearch_config"
for service in $services; do
  echo "$(variable "$service")_NATS_PASSWORD: \"$(cat "$folder/$service"_nats_password)\""
done | write nats_passwords
for service in $services; do
  password=$(sed -E 's#^[a-z]+://[^:]*:([^@]*)@.*#\1#' "$folder/$service"_database_url)
  printf -- '-c bunting.%s=%s ' "$(underscored "$service")" "$password"
done | write postgres_roles
echo "master_key = \"$(cat "$folder/meilisearch_key")\"" | write meilisearch_config

# For trials, a certificate that the balancer signs itself. Replace it by a file with your certificate, its chain and its key.
if [ ! -s "$folder/balancer_certificate" ]; then
  if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=${BUNTING_HOST:-localhost}" \
      -addext "subjectAltName=DNS:${BUNTING_HOST:-localhost}" -keyout "$folder/.key" -out "$folder/.certificate" 2>/dev/null
    cat "$folder/.certificate" "$folder/.key" | write balancer_certificate
    rm -f "$folder/.certificate" "$folder/.key"
  else
    echo "openssl is missing: write the certificate of the balancer, its chain and its key into $folder/balancer_certificate." >&2
    : | write balancer_certificate
  fi
fi
echo "The secrets are in $folder. The admin token is in $folder/admin_token."

if [ "${1:-}" = --start ]; then
  shift
  docker compose up --build --detach --wait "$@"
  address=$(docker compose port gateway 4242 | sed 's/^0\.0\.0\.0:/localhost:/')
  echo "Bunting is at http://$address, and with the profile balanced at the balancer's port."
  # While there is no user, a gateway has printed a link by which the first administrator is created; its own port is another one.
  docker compose logs --no-log-prefix gateway | grep '^The first administrator' | tail -n 1 |
    sed "s#http://127\.0\.0\.1:4242/#http://$address/#"
fi
