import { host, openLog } from '@bunting/runtime';
import { type FreshDatabase, reservePort, freshDatabase, longFreshnessTimeouts } from '@bunting/testing';
import { randomBytes } from 'node:crypto';
import { databaseSettingOf } from '../../src/database-setting.ts';
import { services } from '../../src/services.ts';

/** Starts every service on databases of its own, over the bus that the settings name. */
export const startHostedPlatform = async (
  settings: Readonly<Record<string, string>>,
  /** the databases of another PostgreSQL than that of the tests */
  urlOf?: (database: string) => string,
) => {
  const token = `hosted-${randomBytes(24).toString('hex')}`;
  const environment: Record<string, string> = {
    PORT: '0',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_OPS_PORT: String(await reservePort()),
    BUNTING_ADMIN_TOKEN: token,
    CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW: 'true',
    CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'true',
    ...longFreshnessTimeouts,
    ...settings,
  };
  const databases: FreshDatabase[] = [];
  for (const { name } of services) {
    const database =
      urlOf === undefined ? await freshDatabase(name) : { url: urlOf(name), drop: () => Promise.resolve() };
    databases.push(database);
    environment[databaseSettingOf(name).setting] = database.url;
  }
  const logged: string[] = [];
  const log = openLog(settings['LOG_LEVEL'] ?? 'info', { write: (line) => void logged.push(line) });
  const hosted = await host(services, { environment, log });
  return {
    url: hosted.services.get('gateway')?.address ?? '',
    token,
    hosted,
    /** the settings that it was started with, for another host on the same databases */
    environment,
    /** the lines logged so far, parsed */
    lines: (): Record<string, unknown>[] => logged.map((line) => JSON.parse(line) as Record<string, unknown>),
    /** Stops the host and removes its databases. */
    stop: async (): Promise<void> => {
      await hosted.stop();
      for (const database of databases) await database.drop();
    },
  };
};
/** Every service, hosted in the test's own process, where a test can read the log and stop the host. */
export type HostedPlatform = Awaited<ReturnType<typeof startHostedPlatform>>;
