import type { ServiceName } from '@bunting/contracts';
import type { SchemaMigration } from '@bunting/database';
import { connectOrStartEmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { type AnyService, configSchemaOf, readConfig } from '@bunting/runtime';
import pg from 'pg';
import {
  createDataFolder,
  type DataFolders,
  dataFolders,
  hasDatabases,
} from '../../apps/all-in-one/src/data-folders.ts';
import { databaseSettingOf, isSettingGiven } from '../../apps/all-in-one/src/database-setting.ts';
import { auditMigrations } from '../../apps/audit/src/migrations/index.ts';
import { changeRequestMigrations } from '../../apps/change-requests/src/migrations/index.ts';
import { featuresMigrations } from '../../apps/features/src/migrations/index.ts';
import { gatewayMigrations } from '../../apps/gateway/src/migrations/index.ts';
import { integrationsMigrations } from '../../apps/integrations/src/migrations/index.ts';
import { searchMigrations } from '../../apps/search/src/migrations/index.ts';
import { BackupError } from '../backup/manifest.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceDatabase {
  readonly service: ServiceName;
  /** the name of the database */
  readonly database: string;
  readonly url: string;
  readonly migrations: readonly SchemaMigration[];
}

/** Which databases the programs use, for their help. */
export const databasesHelp = `The databases are those of <SERVICE>_DATABASE_URL (or its _FILE); services without one have theirs in the PostgreSQL of
npm start and npm run stack, in BUNTING_DATA_DIR, else .bunting/.`;

function databaseAt(service: ServiceName, url: string): ServiceDatabase {
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return { service, database, url, migrations: allMigrations[service] };
}

/** The databases of all services at one PostgreSQL. */
export function serviceDatabasesAt(urlOf: (database: string) => string): readonly ServiceDatabase[] {
  return allServices.map((service) => databaseAt(service, urlOf(databaseSettingOf(service).database)));
}

/** The database of one of the services. */
export function databaseOfService(databases: readonly ServiceDatabase[], name: ServiceName): ServiceDatabase {
  const match = databases.find(({ service }) => service === name);
  if (match === undefined) throw new Error(`There is no database of ${name}.`);
  return match;
}

function openEmbedded(folders: DataFolders, create: boolean) {
  if (!create || hasDatabases(folders)) return connectOrStartEmbeddedPostgres({ dataDir: folders.postgres });
  createDataFolder(folders.data);
  return startEmbeddedPostgres({ dataDir: folders.postgres });
}

interface ServiceDatabaseOptions {
  /** whether the data folder of the embedded PostgreSQL may be new */
  readonly create?: boolean;
  /** the services whose databases are needed: all by default */
  readonly only?: readonly ServiceName[];
}

/**
 * Runs a job with an environment that has the URL of each database. Databases without a setting are in the embedded PostgreSQL, which
 * runs at least as long as the job.
 */
export async function withDatabaseUrls<T>(
  environment: Environment,
  { create = false, only }: ServiceDatabaseOptions,
  job: (completeEnvironment: Environment) => Promise<T>,
): Promise<T> {
  const missing = allServices
    .filter((service) => only?.includes(service) ?? true)
    .map(databaseSettingOf)
    .filter(({ setting }) => !isSettingGiven(environment, setting));
  if (missing.length === 0) return job(environment);
  const embedded = await openEmbedded(dataFolders(environment), create);
  try {
    const addresses = missing.map(({ setting, database }) => [setting, embedded.urlOf(database)]);
    return await job({ ...environment, ...Object.fromEntries(addresses) });
  } finally {
    await embedded.stop();
  }
}

/** Runs a job with the databases of all services, which the settings name, or which are in the embedded PostgreSQL. */
export async function withServiceDatabases<T>(
  environment: Environment,
  { create = false }: Pick<ServiceDatabaseOptions, 'create'>,
  job: (databases: readonly ServiceDatabase[]) => Promise<T>,
): Promise<T> {
  return withDatabaseUrls(environment, { create }, async (completeEnvironment) => {
    const urlOf = async (service: ServiceName): Promise<string> => {
      const { setting } = databaseSettingOf(service);
      // For a database of the embedded PostgreSQL the settings of its service are not checked, and the service need not be loaded.
      if (!isSettingGiven(environment, setting)) return completeEnvironment[setting] ?? '';
      const { services } = await import('../../apps/all-in-one/src/services.ts');
      const definition = services.find(({ name }) => name === service) as AnyService;
      // The URL may be in a file, so all settings are read.
      return (readConfig(configSchemaOf(definition), completeEnvironment) as Readonly<Record<string, string>>)[
        setting
      ] as string;
    };
    const databases: ServiceDatabase[] = [];
    for (const service of allServices) databases.push(databaseAt(service, await urlOf(service)));
    const addresses = databases.map(({ url }) => `${new URL(url).host}/${new URL(url).pathname}`);
    if (new Set(addresses).size < addresses.length)
      throw new Error('Two services have the same database address. Give each <SERVICE>_DATABASE_URL its own.');
    return job(databases);
  });
}

/** The migrations of each service's database, in the order in which they are applied. */
export const allMigrations: Readonly<Record<ServiceName, readonly SchemaMigration[]>> = {
  features: featuresMigrations,
  'change-requests': changeRequestMigrations,
  audit: auditMigrations,
  search: searchMigrations,
  integrations: integrationsMigrations,
  gateway: gatewayMigrations,
};
const allServices = Object.keys(allMigrations) as readonly ServiceName[];

/** Connects to a database. @throws BackupError if it cannot be reached */
export async function connectToServiceDatabase({ service, url }: ServiceDatabase): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'bunting-backup',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // The query that fails reports a lost connection; without a listener the error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(
      'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0',
    );
  } catch (error) {
    await client.end().catch(() => undefined);
    const { host, pathname } = new URL(url);
    throw new BackupError(
      `The database of ${service} (${host}${pathname}) cannot be opened: ${(error as Error).message}. Start it, or correct its address.`,
      { cause: error },
    );
  }
  return client;
}

const countSessions = `
  select count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** Throws a BackupError if a program is connected to the database. */
export async function requireNoOtherSession({ service, database }: ServiceDatabase, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ count: number }>(countSessions);
  const sessions = rows[0]?.count ?? 0;
  if (sessions === 0) return;
  throw new BackupError(
    `The database ${database} of ${service} is in use (${sessions} connections). Nothing was changed. Stop all services, and try again.`,
  );
}
