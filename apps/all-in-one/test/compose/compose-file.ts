import { expect } from 'vitest';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { services } from '../../src/services.ts';
import { repository } from '../support/platform.ts';

export interface Container {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly networks: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly user?: string;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string; readonly cpus: string } } };
  readonly tmpfs?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
}
export interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const readFile = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
export const compose = parse(readFile('docker-compose.yml'), { merge: true }) as Compose;
export const composedServiceNames = services.map(({ name }) => name);

/** The container in which operators run commands of the repository. */
export const commandContainer = (): Container => {
  const { services: added } = parse(readFile('docker/tools.yml')) as Compose;
  expect(Object.keys(added)).toEqual(['tools']);
  return added['tools'] as Container;
};

type Node = Readonly<Record<string, unknown>>;
const isMap = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Files of Docker Compose as one, as `-f` for each of them merges them: mappings by key, lists one after the other. */
export const mergedCompose = (...files: readonly string[]): Compose => {
  const merge = (one: unknown, other: unknown): unknown =>
    isMap(one) && isMap(other)
      ? { ...one, ...Object.fromEntries(Object.entries(other).map(([key, value]) => [key, merge(one[key], value)])) }
      : Array.isArray(one) && Array.isArray(other)
        ? [...(one as unknown[]), ...(other as unknown[])]
        : (other ?? one);
  return files.map((file): unknown => parse(readFile(file), { merge: true })).reduce(merge) as Compose;
};

/** Keys of a service that say the same as one of `deploy`: Compose refuses a file that sets one of them and another value, or none, there. */
const twiceSaid = {
  scale: ['replicas'],
  cpus: ['resources', 'limits', 'cpus'],
  mem_limit: ['resources', 'limits', 'memory'],
  pids_limit: ['resources', 'limits', 'pids'],
  mem_reservation: ['resources', 'reservations', 'memory'],
};

/**
 * Why Compose would refuse a file that is valid YAML of known keys: the rules of `checkConsistency` in compose-go (`loader/validate.go`) for
 * what the files of this repository use, and the version of the engine that a key asks for.
 */
export const composeFaults = ({ services, networks, volumes, secrets }: Compose): readonly string[] =>
  Object.entries(services).flatMap(([name, container]) => {
    const faults: string[] = [];
    const keys = container as unknown as Node;
    for (const [key, there] of Object.entries(twiceSaid)) {
      const place = there
        .slice(0, -1)
        .reduce<unknown>((at, part) => (isMap(at) ? at[part] : undefined), keys['deploy']);
      const last = there.at(-1) ?? '';
      if (keys[key] !== undefined && isMap(place) && String(place[last]) !== String(keys[key]))
        faults.push(`distinct values on '${key}' and 'deploy.${there.join('.')}'`);
    }
    if (keys['build'] === undefined && keys['image'] === undefined) faults.push('neither an image nor a build');
    const { test, start_interval: startInterval } = (keys['healthcheck'] ?? {}) as {
      test?: string[];
      start_interval?: string;
    };
    if (test !== undefined && !/^(?:CMD|CMD-SHELL|NONE)$/.test(test[0] ?? ''))
      faults.push('healthcheck.test without CMD');
    if (startInterval !== undefined) faults.push('healthcheck.start_interval needs Docker 25');
    for (const network of container.networks) if (!(network in networks)) faults.push(`undefined network ${network}`);
    for (const secret of container.secrets ?? []) if (!(secret in secrets)) faults.push(`undefined secret ${secret}`);
    for (const other of Object.keys(container.depends_on ?? {}))
      if (!(other in services)) faults.push(`depends on undefined service ${other}`);
    const targets = (container.tmpfs ?? []).map((mount) => mount.split(':')[0]);
    for (const mount of container.volumes ?? []) {
      const [source = '', target] = mount.replace(/\$\{[^}]*\}/, './variable').split(':');
      targets.push(target);
      if (/^\w/.test(source) && !(source in volumes)) faults.push(`undefined volume ${source}`);
    }
    if (new Set(targets).size < targets.length) faults.push('two mounts on one target');
    return faults.map((fault) => `${name}: ${fault}`);
  });

/** Runs docker/setup.sh for secrets in a temporary folder, which `remove` deletes. */
export const temporarySecrets = () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bunting-compose-'));
  const secretsFolder = path.join(folder, 'secrets');
  return {
    folder,
    secretsFolder,
    secret: (name: string): string => readFileSync(path.join(secretsFolder, name), 'utf8').trim(),
    runSetup: (environment: Readonly<Record<string, string>> = {}, ...options: readonly string[]): string =>
      execFileSync('sh', ['docker/setup.sh', ...options], {
        cwd: repository,
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, BUNTING_SECRETS: secretsFolder, ...environment },
      }),
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  };
};
