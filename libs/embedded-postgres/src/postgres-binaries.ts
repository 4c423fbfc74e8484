import { accessSync, chmodSync, constants, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The major version of the packaged PostgreSQL. Data folders of other major versions cannot be opened. */
export const postgresMajorVersion = '18';

const findNativeFolder = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed: run \`npm ci\` with optional dependencies, or use a PostgreSQL of your own where there is none for this platform.`,
    );
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * Creates the symbolic links that the install script of the package would create, since npm packages hold none, and makes the programs
 * executable. The repository installs packages without their scripts. Another process may do the same concurrently.
 */
const completeInstallation = (native: string, programs: PostgresBinaries): void => {
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = path.join(native, '..', target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
  for (const program of Object.values(programs) as string[]) {
    try {
      accessSync(program, constants.X_OK);
    } catch {
      chmodSync(program, 0o755);
    }
  }
};

/**
 * Makes the PostgreSQL that npm installed ready to run, and returns the paths of its programs.
 * @throws EmbeddedPostgresError if it is not installed, or this user may not complete it
 */
export const preparePostgresBinaries = (): PostgresBinaries => {
  const native = findNativeFolder();
  const programs = { initdb: path.join(native, 'bin', 'initdb'), postgres: path.join(native, 'bin', 'postgres') };
  try {
    completeInstallation(native, programs);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The PostgreSQL in ${native} is not complete and this user cannot complete it (${codeOf(error) ?? String(error)}): start once as the owner of that folder, or run \`npm ci\` again.`,
    );
  }
  return programs;
};
