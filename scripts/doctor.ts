import { natsBus } from '@bunting/bus';
import { type Database, openDatabase, type SchemaMigration } from '@bunting/database';
import { inboxTables } from '@bunting/outbox';
import { ConfigError, configOf, HostConfig, natsAccess, readConfig } from '@bunting/runtime';
import { logMigrations } from '../apps/audit/src/persistence/tables.ts';
import { services } from '../apps/all-in-one/src/services.ts';
import { changeRequestMigrations } from '../apps/change-requests/src/persistence/migrations/index.ts';
import { steps as featuresMigrations } from '../apps/features/src/persistence/migrations/index.ts';
import { gatewayMigrations } from '../apps/gateway/src/persistence/migrations/index.ts';
import { searchMigrations } from '../apps/search/src/persistence/tables.ts';

const help = `Checks a deployment and prints for each problem what to do. It changes nothing, and ends with exit code 1 if there is a problem.

  npm run doctor                                       with the settings of the services in the environment
  npm run doctor -- https://flags.example.org http://features:9090    asks the readiness of these addresses as well

It checks every service whose <SERVICE>_DATABASE_URL (or its _FILE) is set, NATS where BUS_URL is set, and Meilisearch where MEILI_URL is.`;

type Environment = Readonly<Record<string, string | undefined>>;

/** One result: what was checked, and for a problem the sentence that says what to do. */
export interface Finding {
  readonly component: string;
  readonly text: string;
  readonly isProblem: boolean;
}

const migrationsOf: Readonly<Record<string, readonly SchemaMigration[]>> = {
  features: featuresMigrations,
  'change-requests': changeRequestMigrations,
  audit: [...logMigrations, inboxTables],
  search: searchMigrations,
  gateway: gatewayMigrations,
};

/** The largest body of an import, which is one message of NATS. */
const wantedPayloadBytes = 11 * 1024 * 1024;
const maxClockDifferenceMs = 1_000;
const maxLagSeconds = 30;
const oldestNode = 20;

const ok = (component: string, text: string): Finding => ({ component, text, isProblem: false });
const problem = (component: string, text: string): Finding => ({ component, text, isProblem: true });
const reasonOf = (error: unknown): string => (error as Error).message;

interface DatabaseState {
  readonly version: string;
  readonly clockMs: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly isReadOnly: boolean;
  readonly mebibytes: number;
  readonly hasOutbox: boolean;
  readonly hasInbox: boolean;
}

const stateStatement = {
  text: `
    select current_setting('server_version') as version,
      extract(epoch from clock_timestamp())::float8 * 1000 as "clockMs",
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as "maxConnections",
      pg_is_in_recovery() as "isReadOnly",
      (pg_database_size(current_database()) / 1048576)::int as mebibytes,
      to_regclass('outbox_consumer') is not null as "hasOutbox",
      to_regclass('dead_letter') is not null as "hasInbox"`,
};

const lagStatement = {
  text: `
    select topic, consumer, extract(epoch from now() - confirmed_at)::float8 as seconds, head.position - reader.position as messages
    from outbox_consumer reader join outbox_topic head using (topic) where head.position > reader.position`,
};

const checkQueues = async (name: string, database: Database, state: DatabaseState): Promise<Finding[]> => {
  const findings: Finding[] = [];
  if (state.hasOutbox) {
    const lags = await database.read<{ topic: string; consumer: string; seconds: number; messages: number }>(
      lagStatement,
    );
    const late = lags.filter(({ seconds }) => seconds > maxLagSeconds);
    for (const { topic, consumer, messages, seconds } of late)
      findings.push(
        problem(
          name,
          `${consumer} is ${messages} messages behind the outbox (${topic}) and confirmed its last ${seconds.toFixed(0)} s ago. Start it, or read its log.`,
        ),
      );
    if (late.length === 0) findings.push(ok(name, 'every consumer follows the outbox'));
  }
  if (state.hasInbox) {
    const [row] = await database.read<{ letters: number; missed: number }>({
      text: `select (select count(*)::int from dead_letter) as letters, (select count(*)::int from missed_message) as missed`,
    });
    const { letters = 0, missed = 0 } = row ?? {};
    if (letters > 0)
      findings.push(
        problem(
          name,
          `has ${letters} dead letters. Upgrade it to the version of the producer; see docs/operations.md.`,
        ),
      );
    if (missed > 0)
      findings.push(
        problem(name, `has missed ${missed} ranges of messages. Restore them from a backup; see docs/runbook.md.`),
      );
    if (letters + missed === 0) findings.push(ok(name, 'no dead letters and no missed messages'));
  }
  return findings;
};

const checkDatabase = async (name: string, url: string): Promise<Finding[]> => {
  let database: Database;
  try {
    const migrations = migrationsOf[name] ?? [];
    database = await openDatabase({ url, name: 'doctor', migrations, readOnlySchema: true, poolMax: 1 });
  } catch (error) {
    return [problem(name, reasonOf(error))];
  }
  try {
    const before = Date.now();
    const [state] = await database.read<DatabaseState>(stateStatement);
    if (state === undefined) return [problem(name, 'the database returned nothing.')];
    const differenceMs = Math.abs((before + Date.now()) / 2 - state.clockMs);
    const { version, connections, maxConnections, mebibytes } = state;
    const findings = [ok(name, `PostgreSQL ${version}, all migrations, ${mebibytes} MiB`)];
    if (differenceMs > maxClockDifferenceMs)
      findings.push(
        problem(
          name,
          `the clocks of this machine and of PostgreSQL differ by ${differenceMs.toFixed(0)} ms. Synchronise both with NTP.`,
        ),
      );
    if (connections > maxConnections * 0.8)
      findings.push(
        problem(
          name,
          `${connections} of ${maxConnections} connections are in use. Raise max_connections, or lower the pools of the services.`,
        ),
      );
    if (state.isReadOnly)
      findings.push(problem(name, 'the PostgreSQL is a read-only replica. Give the address of the primary.'));
    return [...findings, ...(await checkQueues(name, database, state))];
  } catch (error) {
    return [problem(name, `${reasonOf(error)} Look at the log of PostgreSQL.`)];
  } finally {
    await database.close();
  }
};

const checkNats = async (environment: Environment): Promise<Finding[]> => {
  const config = readConfig(HostConfig, environment);
  if (config.BUS_URL === undefined) return [ok('NATS', 'not used: BUS_URL is not set')];
  try {
    // With the name of the user, whose rights are for the inbox of that name.
    const bus = await natsBus({ url: config.BUS_URL, name: config.BUS_USER ?? 'doctor', access: natsAccess(config) });
    try {
      await bus.checkServer([]);
      const { version, maxPayloadBytes } = bus.server;
      return [
        ok('NATS', `version ${version}, with JetStream`),
        maxPayloadBytes < wantedPayloadBytes
          ? problem(
              'NATS',
              `max_payload is ${maxPayloadBytes} bytes: imports of more are refused with 413. Set max_payload: 16MB.`,
            )
          : ok('NATS', `messages of up to ${maxPayloadBytes} bytes`),
      ];
    } finally {
      await bus.close();
    }
  } catch (error) {
    return [problem('NATS', reasonOf(error))];
  }
};

const checkMeilisearch = async (url: string, key: string | undefined): Promise<Finding> => {
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(new URL('/version', url), { headers, signal: AbortSignal.timeout(5_000) });
    if (!response.ok)
      return problem(
        'Meilisearch',
        `${url} answers ${response.status}. Correct MEILI_KEY; until then PostgreSQL answers searches.`,
      );
    const { pkgVersion = 'unknown' } = (await response.json()) as { pkgVersion?: string };
    return ok('Meilisearch', `version ${pkgVersion}`);
  } catch {
    return problem(
      'Meilisearch',
      `${url} does not answer. Start it or correct MEILI_URL; until then PostgreSQL answers searches.`,
    );
  }
};

const checkAddress = async (address: string): Promise<Finding> => {
  try {
    const response = await fetch(new URL('/health/ready', address), { signal: AbortSignal.timeout(5_000) });
    if (response.ok) return ok(address, 'ready');
    const { reason = 'no reason given' } = (await response.json().catch(() => ({}))) as { reason?: string };
    return problem(address, `is not ready (${response.status}): ${reason}`);
  } catch (error) {
    return problem(address, `does not answer (${reasonOf(error)}). Start it, or correct the address.`);
  }
};

/** Checks what the settings of the environment name, and the readiness of the addresses. It changes nothing. */
export const diagnose = async (environment: Environment, addresses: readonly string[] = []): Promise<Finding[]> => {
  const findings: Finding[] = [];
  const node = Number(process.versions.node.split('.')[0]);
  findings.push(
    node < oldestNode
      ? problem('Node.js', `is version ${process.versions.node}. Install ${oldestNode} or newer.`)
      : ok('Node.js', process.versions.node),
  );
  let databases = 0;
  for (const service of services) {
    const key = `${service.name.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`;
    if (!environment[key] && !environment[`${key}_FILE`]) continue;
    databases++;
    try {
      const config = readConfig(configOf(service), environment) as Record<string, unknown>;
      findings.push(...(await checkDatabase(service.name, String(config[key]))));
      if (service.name === 'search' && typeof config['MEILI_URL'] === 'string')
        findings.push(await checkMeilisearch(config['MEILI_URL'], config['MEILI_KEY'] as string | undefined));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      findings.push(problem(service.name, error.message));
    }
  }
  if (databases === 0)
    findings.push(
      problem('settings', 'no <SERVICE>_DATABASE_URL is set. Run the doctor with the environment of the services.'),
    );
  try {
    findings.push(...(await checkNats(environment)));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(problem('settings', error.message));
  }
  findings.push(...(await Promise.all(addresses.map(checkAddress))));
  return findings;
};

if (import.meta.main) {
  const [, , ...args] = process.argv;
  if (args.includes('--help')) console.log(help);
  else {
    const findings = await diagnose(process.env, args);
    for (const { component, text, isProblem } of findings)
      console.log(`${isProblem ? 'PROBLEM' : 'ok     '} ${component}: ${text}`);
    const problems = findings.filter(({ isProblem }) => isProblem).length;
    console.log(problems === 0 ? 'No problem was found.' : `${problems} problems were found.`);
    process.exitCode = problems === 0 ? 0 : 1;
  }
}
