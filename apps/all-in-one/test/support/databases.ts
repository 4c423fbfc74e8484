import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type FreshDatabase, freshDatabase } from '@bunting/testing';
import { services } from '../../src/services.ts';
import { databaseSettingOf } from '../../src/database-setting.ts';

const apps = path.join(import.meta.dirname, '..', '..', '..');

/** What the migrations of a service depend on. */
const migrationsKey = (service: string): string => {
  const folder = path.join(apps, service, 'src', 'migrations');
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).toSorted()) hash.update(readFileSync(path.join(folder, file)));
  return hash.digest('hex');
};

/** Databases of all services, each a copy of one that was migrated once in this run. */
export const migratedDatabases = async () => {
  const databases: FreshDatabase[] = [];
  const settings: Record<string, string> = {};
  for (const service of services) {
    const { setting } = databaseSettingOf(service.name);
    const migrate = async (url: string) => service.migrate?.({ [setting]: url } as never);
    const database = await freshDatabase(service.name, {
      key: `platform ${service.name} ${migrationsKey(service.name)}`,
      migrate,
    });
    databases.push(database);
    settings[setting] = database.url;
  }
  return {
    /** the settings that name them */
    settings,
    drop: async (): Promise<void> => {
      for (const database of databases) await database.drop();
    },
  };
};
export type MigratedDatabases = Awaited<ReturnType<typeof migratedDatabases>>;
