import { expect } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { services } from '../../src/services.ts';
import { repository } from '../support/program.ts';

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
  readonly pids_limit?: number;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string; readonly cpus: string } } };
}
export interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
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
