import type { ServiceName } from '@bunting/contracts';
import type { SchemaMigration } from '@bunting/database';
import { startEmbeddedPostgres, connectOrStartEmbeddedPostgres } from '@bunting/embedded-postgres';
import { configOf, readConfig } from '@bunting/runtime';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { databases, services } from '../../apps/all-in-one/src/services.ts';
import { allMigrations } from '../migrations/all-migrations.ts';
import { BackupError } from './backup-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceDatabase {
  readonly service: ServiceName;
  /** its name, as in a URL */
  readonly database: string;
  readonly url: string;
  readonly migrations: readonly SchemaMigration[];
}

/** Which databases the programs use, for their help. */
export const databasesHelp = `The databases are those of <SERVICE>_DATABASE_URL (or its _FILE); services without one have theirs in the PostgreSQL of
npm start and npm run stack, in BUNTING_DATA_DIR, else .bunting/.`;

const repository = path.join(import.meta.dirname, '..', '..');

const describe = (service: ServiceName, url: string): ServiceDatabase => {
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return { service, database, url, migrations: allMigrations[service] ?? [] };
};

/** The databases of all services at one PostgreSQL. */
export const serviceDatabasesAt = (urlOf: (database: string) => string): readonly ServiceDatabase[] =>
  services.map(({ name }, nth) => describe(name, urlOf(databases[nth]?.database ?? name)));

const openEmbedded = (dataDir: string, create: boolean) => {
  if (!create || existsSync(path.join(dataDir, 'PG_VERSION'))) return connectOrStartEmbeddedPostgres({ dataDir });
  // Started by root, PostgreSQL runs as another user, who passes through to its own folder.
  mkdirSync(path.dirname(dataDir), { recursive: true, mode: 0o711 });
  return startEmbeddedPostgres({ dataDir });
};

/** Runs a job with the databases of the settings. The embedded PostgreSQL runs during the job; with `create` its data folder may be new. */
export const withServiceDatabases = async <T>(
  environment: Environment,
  { create }: { readonly create: boolean },
  job: (databases: readonly ServiceDatabase[]) => Promise<T>,
): Promise<T> => {
  const named = services.map((service, nth) => {
    const key = databases[nth]?.setting ?? '';
    if (!environment[key] && !environment[`${key}_FILE`]) return undefined;
    return (readConfig(configOf(service), environment) as Readonly<Record<string, string>>)[key];
  });
  const isEmbedded = named.includes(undefined);
  const dataDir = path.resolve(environment['BUNTING_DATA_DIR'] || path.join(repository, '.bunting'), 'postgres');
  const embedded = isEmbedded ? await openEmbedded(dataDir, create) : undefined;
  try {
    const found = services.map(({ name }, nth) =>
      describe(name, named[nth] ?? embedded?.urlOf(databases[nth]?.database ?? '') ?? ''),
    );
    const addresses = found.map(({ url }) => `${new URL(url).host}/${new URL(url).pathname}`);
    if (new Set(addresses).size < addresses.length)
      throw new BackupError('Two services have the same database address. Give each <SERVICE>_DATABASE_URL its own.');
    return await job(found);
  } finally {
    await embedded?.stop();
  }
};
