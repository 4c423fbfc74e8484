import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import type { RunningGateway } from '@bunting/gateway';
import { host, type RunningHost } from '@bunting/runtime';
import { createDataFolder, dataFolders, integrationsKey } from './data-folders.ts';
import { isSettingGiven } from './database-setting.ts';
import { services, servicesWithDatabaseSettings } from './services.ts';

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The URL by which a browser on this machine reaches a server that listens on every interface. */
const reachableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:');

/**
 * Starts all services in this process. Each uses the database of its own setting; those without one share an embedded PostgreSQL under
 * `BUNTING_DATA_DIR`, each in a database of its own.
 */
export const startPlatform = async (
  environment: EnvironmentVariables,
  /** is called at the beginning of each part of the start, with what starts then */
  onPhase: (starting: string) => void = () => undefined,
) => {
  const missing = servicesWithDatabaseSettings.filter(({ setting }) => !isSettingGiven(environment, setting));
  const warnings: string[] = [];
  let postgres: EmbeddedPostgres | undefined;
  let dataDir: string | undefined;
  let secretKey: string | undefined;
  if (missing.length > 0) {
    const folders = dataFolders(environment);
    dataDir = folders.data;
    createDataFolder(dataDir);
    if (!isSettingGiven(environment, 'INTEGRATIONS_SECRET_KEY')) secretKey = integrationsKey(folders);
    onPhase('PostgreSQL');
    postgres = await startEmbeddedPostgres({
      dataDir: folders.postgres,
      warn: (message) => void warnings.push(message),
    });
  }
  const urls = Object.fromEntries(missing.map(({ setting, database }) => [setting, postgres?.localUrlOf(database)]));
  onPhase('the services');
  let hosted: RunningHost;
  try {
    hosted = await host(services, {
      environment: {
        LOG_LEVEL: 'warn',
        ...environment,
        ...urls,
        ...(secretKey === undefined ? {} : { INTEGRATIONS_SECRET_KEY: secretKey }),
      },
    });
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
  for (const warning of warnings) hosted.log.warn(warning);
  const gateway = hosted.services.get('gateway') as RunningGateway | undefined;
  return {
    /** the URL of the gateway */
    address: reachableUrl(gateway?.address ?? ''),
    /** the folder of all local data; undefined where every service has a database of its own settings */
    dataDir,
    /** the generated admin token, at the first start only */
    firstAdminToken: gateway?.firstAdminToken,
    /** the URL at which the first administrator is created, while there is no user */
    firstAdminLink: gateway?.firstAdminLink,
    hosted,
    /** Resolves with an error when the embedded PostgreSQL ends by itself; never where there is none. */
    postgresLost: postgres?.lost ?? new Promise(() => undefined),
    stop: async (): Promise<void> => {
      await hosted.stop();
      await postgres?.stop();
    },
  };
};
export type Platform = Awaited<ReturnType<typeof startPlatform>>;
