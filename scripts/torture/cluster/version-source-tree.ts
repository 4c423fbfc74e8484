import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { repository } from '../../../apps/all-in-one/test/support/program.ts';

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const gitSucceeds = (...args: readonly string[]): boolean => {
  try {
    git(...args);
    return true;
  } catch {
    return false;
  }
};

/** The files that define the schemas of the databases. */
const migrationFiles = [
  'apps/*/src/migrations/*.ts',
  'apps/*/src/persistence/migrations/*.ts',
  'libs/outbox/src/schema.ts',
  'libs/outbox/src/idempotency/idempotency-store.ts',
];
const maxCommitsBack = 20;

/**
 * The commit that stands for the previous version: the last tag `v…`, else the commit 20 before HEAD. Before the first release, initial
 * migrations are edited in place: if they have changed since that commit, it is the newest commit that changed them.
 */
export const previousVersionCommit = (): string => {
  const commitsBack = Math.min(maxCommitsBack, Number(git('rev-list', '--count', '--first-parent', 'HEAD')) - 1);
  const candidate = gitSucceeds('describe', '--tags', '--match', 'v*', 'HEAD')
    ? git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
    : `HEAD~${commitsBack}`;
  return gitSucceeds('diff', '--quiet', candidate, 'HEAD', '--', ...migrationFiles)
    ? git('rev-parse', candidate)
    : git('log', '-1', '--format=%H', '--', ...migrationFiles);
};

/** Creates the source tree of a commit in a folder, with its dependencies: links to those of this tree if the lock file is the same. */
export const createVersionSourceTree = (ref: string, folder: string): void => {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', ref], { cwd: repository, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const hasSameLock = gitSucceeds('diff', '--quiet', ref, '--', 'package-lock.json');
  const isLinked =
    hasSameLock &&
    globSync('{.,apps/*,libs/*}/node_modules', { cwd: repository })
      .filter((modules) => existsSync(path.join(folder, path.dirname(modules))))
      .every((modules) => {
        try {
          execFileSync('cp', ['-al', path.join(repository, modules), path.join(folder, modules)], { stdio: 'ignore' });
          return true;
        } catch {
          return false;
        }
      });
  if (isLinked) return;
  const install = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
};
