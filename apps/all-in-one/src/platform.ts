import { type EmbeddedPostgres, startEmbeddedPostgres } from '@bunting/embedded-postgres';
import { host, type RunningHost } from '@bunting/runtime';
import { accessSync, constants, mkdirSync } from 'node:fs';
import path from 'node:path';
import { databases, services } from './services.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const writableFolder = (folder: string): string => {
  const dataDir = path.resolve(folder);
  try {
    // Started by root, PostgreSQL runs as another user, who passes through to its own folder.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
    accessSync(dataDir, constants.W_OK);
    return dataDir;
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new Error(
      `The data folder ${dataDir} cannot be written to (${reason}). Make it writable, or set BUNTING_DATA_DIR to another one.`,
    );
  }
};

/** The address by which a browser on this machine reaches a server that listens on every interface. */
const reachableAddress = (address: string): string =>
  address.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:');

/**
 * Starts all services in this process. Each uses the database of its own setting; those without one share an embedded PostgreSQL under
 * `BUNTING_DATA_DIR`, each in a database of its own.
 */
export const startPlatform = async (environment: Environment, repository: string) => {
  const missing = databases.filter(({ setting }) => !environment[setting] && !environment[`${setting}_FILE`]);
  const warnings: string[] = [];
  let postgres: EmbeddedPostgres | undefined;
  let dataDir: string | undefined;
  if (missing.length > 0) {
    dataDir = writableFolder(environment['BUNTING_DATA_DIR'] || path.join(repository, '.bunting'));
    postgres = await startEmbeddedPostgres({
      dataDir: path.join(dataDir, 'postgres'),
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
