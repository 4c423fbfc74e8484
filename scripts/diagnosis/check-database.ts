import type { ServiceName } from '@bunting/contracts';
import { type Database, hostAndPortOf, inspectReadReplica, openDatabase } from '@bunting/database';
import { allMigrations } from '../migrations/all-migrations.ts';
import { checkPostgres } from './check-postgres.ts';
import { type Finding, passedCheck, failedCheck, reasonOf } from './finding.ts';

const maxLagSeconds = 30;

interface DatabaseState {
  readonly mebibytes: number;
  readonly hasOutbox: boolean;
  readonly isConsumer: boolean;
}

const databaseState = {
  text: `
    select (pg_database_size(current_database()) / 1048576)::int as mebibytes,
      to_regclass('outbox_consumer') is not null as "hasOutbox",
      to_regclass('dead_letter') is not null as "isConsumer"`,
};

const lagStatement = {
  text: `
    select topic, consumer, extract(epoch from now() - confirmed_at)::float8 as seconds, head.position - reader.position as messages
    from outbox_consumer reader join outbox_topic head using (topic) where head.position > reader.position`,
};

const checkOutbox = async (name: string, database: Database): Promise<Finding[]> => {
  const lags = await database.read<{ topic: string; consumer: string; seconds: number; messages: number }>(
    lagStatement,
  );
  const lateConsumers = lags.filter(({ seconds }) => seconds > maxLagSeconds);
  if (lateConsumers.length === 0) return [passedCheck(name, 'every consumer follows the outbox')];
  return lateConsumers.map(({ topic, consumer, messages, seconds }) =>
    failedCheck(
      name,
      `${consumer} is ${messages} messages behind the outbox (${topic}) and confirmed its last ${seconds.toFixed(0)} s ago. Start it, or read its log.`,
    ),
  );
};

const checkUnappliedMessages = async (name: string, database: Database): Promise<Finding[]> => {
  const [row] = await database.read<{ letters: number; missed: number }>({
    text: `select (select count(*)::int from dead_letter) as letters, (select count(*)::int from missed_message) as missed`,
  });
  const { letters = 0, missed = 0 } = row ?? {};
  const findings: Finding[] = [];
  if (letters > 0)
    findings.push(
      failedCheck(
        name,
        `has ${letters} dead letters. Upgrade it to the version of the producer; see docs/operations.md.`,
      ),
    );
  if (missed > 0)
    findings.push(
      failedCheck(name, `has missed ${missed} ranges of messages. Restore them from a backup; see docs/runbook.md.`),
    );
  return findings.length === 0 ? [passedCheck(name, 'no dead letters and no missed messages')] : findings;
};

const checkReadReplica = async (name: string, url: string, primary: Database): Promise<Finding> => {
  const replica = `its read replica at ${hostAndPortOf(url)}`;
  const fallbackNotice = 'Until then the primary serves its reads.';
  try {
    const bytes = await inspectReadReplica(url, primary);
    return bytes === 0
      ? passedCheck(name, `${replica} has replayed everything`)
      : failedCheck(
          name,
          `${replica} is ${bytes} bytes of the log behind after a second. Resume its replay, or look for what slows it down in pg_stat_replication of the primary. ${fallbackNotice}`,
        );
  } catch (error) {
    return failedCheck(
      name,
      `${replica} cannot be used: ${reasonOf(error)}. Start it as a replica of this primary, or correct its address. ${fallbackNotice}`,
    );
  }
};

interface DatabaseToCheck {
  readonly service: ServiceName;
  readonly url: string;
  /** the URL of a read replica, if the service has one */
  readonly replicaUrl: string | undefined;
}

/**
 * Checks the database of a service, its read replica, and its server, unless this server was checked already.
 * @param checkedServers the identifiers of the servers that were checked; that of this one is added
 */
export const checkDatabase = async (
  { service, url, replicaUrl }: DatabaseToCheck,
  { checkedServers, minFreeGib }: { readonly checkedServers: Set<string>; readonly minFreeGib: number },
): Promise<readonly Finding[]> => {
  let database: Database;
  try {
    const migrations = allMigrations[service];
    database = await openDatabase({ url, name: 'doctor', migrations, readOnlySchema: true, poolMax: 1 });
  } catch (error) {
    return [failedCheck(service, reasonOf(error))];
  }
  try {
    const server = await checkPostgres(`PostgreSQL ${hostAndPortOf(url)}`, database, { minFreeGib });
    const [state] = await database.read<DatabaseState>(databaseState);
    const findings = [passedCheck(service, `all migrations, ${state?.mebibytes ?? 0} MiB`)];
    if (!checkedServers.has(server.state.system)) findings.unshift(...server.findings);
    checkedServers.add(server.state.system);
    if (state?.hasOutbox === true) findings.push(...(await checkOutbox(service, database)));
    if (state?.isConsumer === true) findings.push(...(await checkUnappliedMessages(service, database)));
    if (replicaUrl !== undefined) findings.push(await checkReadReplica(service, replicaUrl, database));
    return findings;
  } catch (error) {
    return [failedCheck(service, `${reasonOf(error)} Look at the log of PostgreSQL.`)];
  } finally {
    await database.close();
  }
};
