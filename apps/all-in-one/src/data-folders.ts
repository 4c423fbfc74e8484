import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const repository = path.join(import.meta.dirname, '..', '..', '..');

/** The folders of the data of `npm start` and `npm run stack`: of all of it, of PostgreSQL and of NATS. */
export const dataFolders = (environment: Readonly<Record<string, string | undefined>>) => {
  const data = path.resolve(environment['BUNTING_DATA_DIR'] || path.join(repository, '.bunting'));
  return { data, postgres: path.join(data, 'postgres'), nats: path.join(data, 'nats') };
};

export type DataFolders = ReturnType<typeof dataFolders>;

/** Whether a start has created the databases in the folder of PostgreSQL. */
export const hasDatabases = ({ postgres }: DataFolders): boolean => existsSync(path.join(postgres, 'PG_VERSION'));

/** Creates the folder of all data if it is missing. @throws Error that says what to do if it cannot be written to */
export const createDataFolder = (folder: string): void => {
  try {
    // Started by root, PostgreSQL runs as another user, who passes through to its own folder.
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new Error(
      `The data folder ${folder} cannot be written to (${reason}). Make it writable, or set BUNTING_DATA_DIR to another one.`,
      { cause: error },
    );
  }
};

/**
 * The key for the secrets of integrations, which the first start writes into the folder of all data. Backups do not have it: without the file
 * these secrets are lost.
 */
export const integrationsKey = ({ data }: Pick<DataFolders, 'data'>): string => {
  const file = path.join(data, 'integrations-key');
  if (!existsSync(file)) {
    try {
      writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
    } catch (error) {
      // Another process was first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return readFileSync(file, 'utf8').trim();
};
