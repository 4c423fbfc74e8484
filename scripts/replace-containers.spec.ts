import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Stands for a Docker engine, which test machines lack: containers are files, and each command is logged. */
const docker = `#!/bin/sh
cd "$STATE"
echo "$*" >> log
case "$1 $2" in
  'compose ps') ls "$4" ;;
  'compose up')
    wanted=\${7#*=}; service=\${7%%=*}; number=0
    while [ "$(ls "$service" | wc -l)" -lt "$wanted" ]; do
      number=$((number + 1)); [ -e "$service/$service-new-$number" ] || : > "$service/$service-new-$number"
    done ;;
  'inspect --format') case "$4" in *new*) echo "$HEALTH" ;; *) echo healthy ;; esac ;;
  'rm --force') shift 2; for c; do rm */"$c"; done ;;
  rm*) rm */"$2" ;;
esac
`;

let folder = '';
const run = (health: string, ...services: readonly string[]) =>
  spawnSync('sh', [path.join(import.meta.dirname, '../docker/replace.sh'), ...services], {
    encoding: 'utf8',
    env: {
      PATH: `${folder}/bin:${process.env['PATH']}`,
      STATE: `${folder}/state`,
      HEALTH: health,
      WAIT_SECONDS: '0',
    },
  });
const containers = (service: string): string[] => readdirSync(path.join(folder, 'state', service)).sort();
const commands = (): string[] =>
  readFileSync(path.join(folder, 'state/log'), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('compose ps'));

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

it('removes new containers that do not become healthy, keeps the old ones and ends with exit code 1', () => {
  const { status, stderr } = run('unhealthy', 'features');
  expect([status, stderr]).toEqual([1, expect.stringContaining('removed them; the old containers still serve')]);
  expect(containers('features')).toEqual(['features-1', 'features-2']);
});

it('changes nothing when the service does not run', () => {
  mkdirSync(path.join(folder, 'state/search'));
  const { status, stderr } = run('healthy', 'search');
  expect([status, stderr]).toEqual([1, 'search does not run: start it with docker compose up.\n']);
  expect(commands()).toEqual([]);
});
