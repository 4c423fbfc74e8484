import { ConfigError, configSchemaOf, HostConfig, natsAccess, readConfig } from '@bunting/runtime';
import { Type } from 'typebox';
import { GatewayConfig } from '../../apps/gateway/src/config.ts';
import { dataFolders, hasDatabases } from '../../apps/all-in-one/src/data-folders.ts';
import { isSettingGiven } from '../../apps/all-in-one/src/database-setting.ts';
import { servicesWithDatabaseSettings } from '../../apps/all-in-one/src/services.ts';
import { withDatabaseUrls } from '../databases/service-databases.ts';
import {
  checkMail,
  checkMeilisearch,
  checkService,
  checkBackupAge,
  checkNats,
  type Finding,
  passedCheck,
  failedCheck,
} from './check-servers.ts';
import { checkDatabase } from './check-postgres.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface DiagnosisOptions {
  /** URLs of services whose readiness is checked */
  readonly addresses: readonly string[];
  /** the GiB that must be free on the disk of a PostgreSQL on this machine */
  readonly minFreeGib: number;
  /** a folder that must have a backup of the last day */
  readonly backups: string | undefined;
}

const ImportLimit = Type.Pick(GatewayConfig, ['GATEWAY_MAX_LARGE_BODY_BYTES']);
const MailServer = Type.Pick(GatewayConfig, ['SMTP_URL']);
const oldestNode = 24;

function checkNode(): Finding {
  const { node } = process.versions;
  return Number(node.split('.')[0]) < oldestNode
    ? failedCheck('Node.js', `is version ${node}. Install ${oldestNode} or newer.`)
    : passedCheck('Node.js', node);
}

/** A problem for each invalid setting; anything but a ConfigError is thrown. */
function faultsOf(component: string, error: unknown): readonly Finding[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.message.split('\n').map((fault) => failedCheck(component, fault));
}

/** Adds the URLs of the embedded PostgreSQL of `npm start`, if the environment names no database and the data of this PostgreSQL exists. */
function withEmbedded<T>(environment: Environment, job: (environment: Environment) => Promise<T>): Promise<T> {
  const namesDatabase = servicesWithDatabaseSettings.some(({ setting }) => isSettingGiven(environment, setting));
  if (namesDatabase || !hasDatabases(dataFolders(environment))) return job(environment);
  return withDatabaseUrls(environment, {}, job);
}

async function checkServices(environment: Environment, minFreeGib: number): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const checkedServers = new Set<string>();
  for (const { service, setting } of servicesWithDatabaseSettings) {
    if (!isSettingGiven(environment, setting)) {
      findings.push(passedCheck(service.name, `not checked: ${setting} is not set`));
      continue;
    }
    try {
      const config = readConfig(configSchemaOf(service), environment) as Readonly<Record<string, string | undefined>>;
      const { [setting]: url = '', FEATURES_READ_DATABASE_URL: replicaUrl, MEILI_URL: meilisearch, MEILI_KEY } = config;
      const database = { service: service.name, url, replicaUrl };
      findings.push(...(await checkDatabase(database, { checkedServers, minFreeGib })));
      if (meilisearch !== undefined) findings.push(await checkMeilisearch(meilisearch, MEILI_KEY));
    } catch (error) {
      findings.push(...faultsOf(service.name, error));
    }
  }
  if (checkedServers.size === 0 && !findings.some(({ isProblem }) => isProblem))
    findings.push(
      failedCheck('settings', 'no <SERVICE>_DATABASE_URL is set. Run the doctor with the environment of the services.'),
    );
  return findings;
}

async function checkBus(environment: Environment): Promise<readonly Finding[]> {
  try {
    const config = readConfig(HostConfig, environment);
    if (config.BUS_URL === undefined) return [passedCheck('NATS', 'not used: BUS_URL is not set')];
    const { GATEWAY_MAX_LARGE_BODY_BYTES: maxImportBytes } = readConfig(ImportLimit, environment);
    return await checkNats({ url: config.BUS_URL, user: config.BUS_USER, access: natsAccess(config), maxImportBytes });
  } catch (error) {
    return faultsOf('settings', error);
  }
}

async function checkMailServer(environment: Environment): Promise<readonly Finding[]> {
  try {
    const { SMTP_URL: url } = readConfig(MailServer, environment);
    return url === undefined ? [] : [await checkMail(url)];
  } catch (error) {
    return faultsOf('settings', error);
  }
}

/** Checks the servers that the settings name, and those of the options. It changes nothing. */
export async function diagnose(
  environment: Environment,
  { addresses, minFreeGib, backups }: DiagnosisOptions,
): Promise<readonly Finding[]> {
  return [
    checkNode(),
    ...(await withEmbedded(environment, (fullEnvironment) => checkServices(fullEnvironment, minFreeGib))),
    ...(await checkBus(environment)),
    ...(await checkMailServer(environment)),
    ...(backups === undefined ? [] : [await checkBackupAge(backups)]),
    ...(await Promise.all(addresses.map(checkService))).flat(),
  ];
}
