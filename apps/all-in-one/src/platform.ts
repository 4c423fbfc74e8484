import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { host, type RunningHost } from '@bunting/runtime';
import { createDataFolder, dataFolders } from './data-folders.ts';
import { isSettingGiven } from './database-setting.ts';
import { services, servicesWithDatabases } from './services.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The address by which a browser on this machine reaches a server that listens on every interface. */
const reachableAddress = (address: string): string =>
  address.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:');

/**
 * Starts all services in this process. Each uses the database of its own setting; those without one share an embedded PostgreSQL under
 * `BUNTING_DATA_DIR`, each in a database of its own.
 */
export const startPlatform = async (environment: Environment) => {
  const missing = servicesWithDatabases.filter(({ setting }) => !isSettingGiven(environment, setting));
  const warnings: string[] = [];
  let postgres: EmbeddedPostgres | undefined;
  let dataDir: string | undefined;
  if (missing.length > 0) {
    const folders = dataFolders(environment);
    dataDir = folders.data;
    createDataFolder(dataDir);
    postgres = await startEmbeddedPostgres({
      dataDir: folders.postgres,
      warn: (message) => void warnings.push(message),
    });
  }
  const urls = Object.fromEntries(missing.map(({ setting, database }) => [setting, postgres?.localUrlOf(database)]));
  let hosted: RunningHost;
  try {
    hosted = await host(services, { environment: { LOG_LEVEL: 'warn', ...environment, ...urls } });
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
  for (const warning of warnings) hosted.log.warn(warning);
  const gateway = hosted.services.get('gateway') as
    { address?: string; firstAdminToken?: string; firstAdminLink?: string } | undefined;
  return {
    address: reachableAddress(gateway?.address ?? ''),
    /** the folder of the embedded PostgreSQL, if it is in use */
    dataDir,
    /** at the very first start only */
    firstAdminToken: gateway?.firstAdminToken,
    firstAdminLink: gateway?.firstAdminLink,
    hosted,
    /** Resolves with an error when the embedded PostgreSQL ends by itself. */
    lost: postgres?.lost ?? new Promise(() => undefined),
    stop: async (): Promise<void> => {
      await hosted.stop();
      await postgres?.stop();
    },
  };
};
export type Platform = Awaited<ReturnType<typeof startPlatform>>;
