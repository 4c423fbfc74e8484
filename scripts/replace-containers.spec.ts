import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { servicesInUpgradeOrder } from './torture/rolling-restarts.ts';

/**
 * A fake Docker engine, which test machines lack. It logs each command. A container is a file in the folder of its service; one that
 * has ended is not empty.
 */
const docker = `#!/bin/sh
cd "$STATE"
echo "$*" >> log
ended() { find "$1" -type f -size +0 -exec basename {} ';'; }
case "$1 $2 $3 $4" in
  'compose ps --all'*) ls "$5" ;;
  'compose ps --quiet nats') ls nats 2>/dev/null ;;
  'compose ps --quiet'*) for c in $(ls "$4"); do [ -s "$4/$c" ] || echo "$c"; done ;;
  'compose rm --force'*) for c in $(ended "$4"); do rm "$4/$c"; done ;;
  'compose exec -T'*) case "$5" in cat) cat nats/nats-1 ;; esac ;;
  'compose up --detach'*)
    [ "$6" != nats ] || exit 0
    wanted=\${7#*=}; service=\${7%%=*}; number=0
    while [ "$(ls "$service" | wc -l)" -lt "$wanted" ]; do
      number=$((number + 1)); [ -e "$service/$service-new-$number" ] || : > "$service/$service-new-$number"
    done
    case "$NEW" in ended) echo ended > "$service/$service-new-1" ;; removed) rm "$service/$service-new-1" ;; failed) exit 1 ;; esac ;;
  'inspect --format'*)
    case "$4" in *new*) [ ! -s */"$4" ] && [ "$NEW" != unhealthy ] && echo healthy || echo unhealthy ;; *) echo healthy ;; esac ;;
  'rm --force'*) rm */"$3" ;;
  rm*) rm */"$2" ;;
esac
`;

let folder = '';
/** The state that the new containers reach. */
type New = 'healthy' | 'unhealthy' | 'ended' | 'removed' | 'failed';
function run(state: New, ...services: readonly string[]) {
  return spawnSync('sh', [path.join(import.meta.dirname, '../docker/replace.sh'), ...services], {
    encoding: 'utf8',
    env: { PATH: `${folder}/bin:${process.env['PATH']}`, STATE: `${folder}/state`, NEW: state, WAIT_SECONDS: '0' },
  });
}
function containers(service: string): string[] {
  return readdirSync(path.join(folder, 'state', service)).sort();
}
function commands(): string[] {
  return readFileSync(path.join(folder, 'state/log'), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('compose ps') && !line.startsWith('compose rm'));
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'bunting-replace-'));
  mkdirSync(path.join(folder, 'bin'));
  mkdirSync(path.join(folder, 'state/features'), { recursive: true });
  for (const name of ['features-1', 'features-2']) writeFileSync(path.join(folder, 'state/features', name), '');
  writeFileSync(path.join(folder, 'bin/docker'), docker);
  chmodSync(path.join(folder, 'bin/docker'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('stops the old containers of a service only after as many new ones are healthy', () => {
  const { status, stderr } = run('healthy', 'features');
  expect([status, stderr]).toEqual([0, '']);
  expect(containers('features')).toEqual(['features-new-1', 'features-new-2']);
  expect(commands()).toEqual([
    'compose up --detach --no-deps --no-recreate --scale features=4 features',
    'inspect --format {{.State.Health.Status}} features-new-1',
    'inspect --format {{.State.Health.Status}} features-new-2',
    'stop --time 75 features-1',
    'rm features-1',
    'stop --time 75 features-2',
    'rm features-2',
  ]);
});

describe('the rights of the users of NATS', () => {
  /** @param rights the file that the container of NATS sees */
  const runWith = (rights: string) => {
    mkdirSync(path.join(folder, 'state/nats'));
    writeFileSync(path.join(folder, 'state/nats/nats-1'), rights);
    expect(run('healthy', 'features').status).toBe(0);
    return commands().filter((line) => line.includes('nats') || line.startsWith('compose up'));
  };
  const start = 'compose up --detach --no-deps --no-recreate --scale features=4 features';
  const read = 'compose exec -T nats cat /etc/nats/nats.conf';

  it('are read again before a new version runs, once and without a restart', () => {
    mkdirSync(path.join(folder, 'state/search'));
    writeFileSync(path.join(folder, 'state/search/search-1'), '');
    const rights = readFileSync(path.join(import.meta.dirname, '../docker/nats/nats.conf'), 'utf8');
    expect(runWith(rights)).toEqual([read, 'compose exec -T nats sh -c kill -HUP 1', start]);
    expect(run('healthy', 'search', 'features').status).toBe(0);
    expect(commands().filter((line) => line === read)).toHaveLength(2);
  });

  it('come with a new container of NATS where the old one sees another file', () => {
    expect(runWith('accounts {}')).toEqual([read, 'compose up --detach --no-deps --force-recreate nats', start]);
  });
});

it.each<[string, New]>([
  ['is not healthy', 'unhealthy'],
  ['has ended', 'ended'],
  ['is missing', 'removed'],
  ['cannot be started', 'failed'],
])('removes the new containers, keeps the old ones and ends with exit code 1 when one that is new %s', (_, state) => {
  const { status, stderr } = run(state, 'features');
  expect([status, stderr]).toEqual([1, expect.stringContaining('removed them; the old containers still serve')]);
  expect(containers('features')).toEqual(['features-1', 'features-2']);
  expect(commands().filter((line) => line.startsWith('stop'))).toEqual([]);
});

it('does not start containers again that have ended, because their image is the old one', () => {
  writeFileSync(path.join(folder, 'state/features/features-3'), 'ended');
  expect(run('healthy', 'features').status).toBe(0);
  expect(containers('features')).toEqual(['features-new-1', 'features-new-2']);
});

it('replaces all services in the order of docs/upgrading.md, which the test of rolling restarts uses as well', () => {
  const upgrading = readFileSync(path.join(import.meta.dirname, '../docs/upgrading.md'), 'utf8');
  const documented = [...upgrading.matchAll(/^\d\. (?!\*\*Back up)(.*?)[:.]/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/\*\*(.*?)\*\*/g)].map(([, name]) => name),
  );
  expect(documented).toEqual([...servicesInUpgradeOrder]);
  for (const service of documented) {
    mkdirSync(path.join(folder, `state/${service}`), { recursive: true });
    writeFileSync(path.join(folder, `state/${service}/${service}-1`), '');
  }
  expect(run('healthy').stdout).toContain(`Replaced: ${documented.join(' ')}`);
});

it('leaves out a service that does not run yet, and says so, unless it is named', () => {
  const { status, stdout, stderr } = run('healthy');
  expect(status).toBe(0);
  expect(stdout).toContain('Replaced: features\n');
  expect(stderr).toContain('integrations does not run: start it with docker compose up.\n');
});

it('changes nothing when the service does not run', () => {
  mkdirSync(path.join(folder, 'state/search'));
  const { status, stderr } = run('healthy', 'search');
  expect([status, stderr]).toEqual([1, 'search does not run: start it with docker compose up.\n']);
  expect(commands()).toEqual([]);
});
