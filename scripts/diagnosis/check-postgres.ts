import { open, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { ServiceName } from '@bunting/contracts';
import { type Database, hostAndPortOf, inspectReadReplica, openDatabase, type ReadDatabase } from '@bunting/database';
import { allMigrations } from '../databases/service-databases.ts';
import { failedCheck, type Finding, passedCheck, reasonOf } from './check-servers.ts';

const maxClockDifferenceMs = 1_000;
const maxUsedConnections = 0.8;
/** Maximum WAL that an inactive replication slot may retain on the disk. */
const maxRetainedGib = 0.5;
const gib = 1024 ** 3;

/** The state of a server, from its own views and settings. */
interface ServerState {
  readonly version: string;
  /** the identifier of its cluster, as text because it exceeds 2^53 */
  readonly system: string;
  readonly clockMs: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly isReadOnly: boolean;
  /** its data folder; null where the user lacks the permission to see it */
  readonly dataFolder: string | null;
}

const serverState = {
  text: `
    select current_setting('server_version') as version,
      (pg_control_system()).system_identifier::text as system,
      extract(epoch from clock_timestamp())::float8 * 1000 as "clockMs",
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
      current_setting('max_connections')::int as "maxConnections",
      pg_is_in_recovery() as "isReadOnly",
      case when pg_has_role(current_user, 'pg_read_all_settings', 'usage') then current_setting('data_directory') end as "dataFolder"`,
};

const slots = {
  text: `
    select slot_name as name, active as "isActive", coalesce(wal_status, 'reserved') as status,
      coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as bytes
    from pg_replication_slots`,
};

const archiver = {
  text: `
    select last_failed_wal as "lastFailed", extract(epoch from now() - last_failed_time)::float8 as "failedSecondsAgo"
    from pg_stat_archiver
    where current_setting('archive_mode') <> 'off' and last_failed_time > coalesce(last_archived_time, '-infinity')`,
};

async function checkSlots(name: string, database: ReadDatabase): Promise<Finding[]> {
  const rows = await database.read<{ name: string; isActive: boolean; status: string; bytes: number }>(slots);
  return rows.flatMap((slot) => {
    if (slot.status === 'lost' || slot.status === 'unreserved')
      return [
        failedCheck(
          name,
          `the replication slot ${slot.name} has lost its log (${slot.status}). Set its replica up again, or drop it: select pg_drop_replication_slot('${slot.name}').`,
        ),
      ];
    if (slot.isActive || slot.bytes < maxRetainedGib * gib) return [];
    return [
      failedCheck(
        name,
        `the replication slot ${slot.name} has no reader and keeps ${(slot.bytes / gib).toFixed(1)} GiB of the log on the disk. Start its replica, or drop it: select pg_drop_replication_slot('${slot.name}').`,
      ),
    ];
  });
}

async function checkArchive(name: string, database: ReadDatabase): Promise<Finding[]> {
  const [failure] = await database.read<{ lastFailed: string; failedSecondsAgo: number }>(archiver);
  if (failure === undefined) return [];
  const { lastFailed, failedSecondsAgo } = failure;
  return [
    failedCheck(
      name,
      `archive_command has failed for ${lastFailed} (${failedSecondsAgo.toFixed(0)} s ago), so the log stays on the disk and cannot be restored from. Correct the command; the log of PostgreSQL says why it fails.`,
    ),
  ];
}

/** The identifier of the cluster whose files are in a folder of this machine; undefined if it cannot be read. */
async function systemAt(dataFolder: string): Promise<string | undefined> {
  const file = await open(path.join(dataFolder, 'global', 'pg_control'), 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return bytesRead === 8 ? buffer.readBigUInt64LE().toString() : undefined;
  } finally {
    await file.close();
  }
}

async function checkDisk(name: string, { dataFolder, system }: ServerState, minFreeGib: number): Promise<Finding> {
  if (dataFolder === null || (await systemAt(dataFolder)) !== system)
    return passedCheck(name, 'its disk cannot be seen from here: watch it on its machine');
  const { bavail, bsize } = await statfs(dataFolder);
  const freeGib = (bavail * bsize) / gib;
  const freeText = `${freeGib.toFixed(1)} GiB are free at ${dataFolder}`;
  return freeGib < minFreeGib
    ? failedCheck(name, `only ${freeText}. Free some space: without it every write is rejected with 503.`)
    : passedCheck(name, freeText);
}

/** Checks a PostgreSQL server: its clock, connections, replication slots, archive and disk. */
async function checkPostgres(
  name: string,
  database: ReadDatabase,
  { minFreeGib }: { readonly minFreeGib: number },
): Promise<{ readonly state: ServerState; readonly findings: readonly Finding[] }> {
  const before = Date.now();
  const [state] = await database.read<ServerState>(serverState);
  if (state === undefined) throw new Error('It returned nothing.');
  const differenceMs = Math.abs((before + Date.now()) / 2 - state.clockMs);
  const findings = [
    passedCheck(name, `version ${state.version}, ${state.connections} of ${state.maxConnections} connections`),
  ];
  if (differenceMs > maxClockDifferenceMs)
    findings.push(
      failedCheck(
        name,
        `the clocks of this machine and of PostgreSQL differ by ${differenceMs.toFixed(0)} ms. Synchronise both with NTP.`,
      ),
    );
  if (state.connections > state.maxConnections * maxUsedConnections)
    findings.push(
      failedCheck(
        name,
        `${state.connections} of ${state.maxConnections} connections are in use. Raise max_connections, or lower the pools of the services.`,
      ),
    );
  if (state.isReadOnly)
    return {
      state,
      findings: [...findings, failedCheck(name, 'is a read-only replica. Give the address of the primary.')],
    };
  findings.push(...(await checkSlots(name, database)), ...(await checkArchive(name, database)));
  return { state, findings: [...findings, await checkDisk(name, state, minFreeGib)] };
}

const maxLagSeconds = 30;

interface DatabaseState {
  readonly mebibytes: number;
  readonly hasOutbox: boolean;
  readonly isConsumer: boolean;
  readonly hasIntegrations: boolean;
}

const databaseState = {
  text: `
    select (pg_database_size(current_database()) / 1048576)::int as mebibytes,
      to_regclass('outbox_consumer') is not null as "hasOutbox",
      to_regclass('dead_letter') is not null as "isConsumer",
      to_regclass('signal_endpoint') is not null as "hasIntegrations"`,
};

const lagStatement = {
  text: `
    select topic, consumer, extract(epoch from now() - confirmed_at)::float8 as seconds, head.position - reader.position as messages
    from outbox_consumer reader join outbox_topic head using (topic) where head.position > reader.position`,
};

async function checkOutbox(name: string, database: Database): Promise<Finding[]> {
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
}

async function checkUnappliedMessages(name: string, database: Database): Promise<Finding[]> {
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
}

/** As the alert BuntingSignalsBehind. */
const maxSignalWaitSeconds = 120;

async function checkSignals(name: string, database: Database): Promise<Finding[]> {
  const waiting = await database.read<{ endpoint: string; signals: number; seconds: number }>({
    text: `
      select e.name as endpoint, count(*)::int as signals, extract(epoch from now() - min(s.created_at))::float8 as seconds
      from signal s join signal_endpoint e on e.id = s.endpoint_id where s.processed_at is null group by e.id order by e.name`,
  });
  const late = waiting.filter(({ seconds }) => seconds > maxSignalWaitSeconds);
  if (late.length === 0) return [passedCheck(name, 'no signal waits for its actions')];
  return late.map(({ endpoint, signals, seconds }) =>
    failedCheck(
      name,
      `${signals} signals of ${endpoint} wait for their actions, the first for ${seconds.toFixed(0)} s. Start integrations, or see docs/runbook.md.`,
    ),
  );
}

/** As the alerts BuntingIntegrationFails, BuntingIntegrationFull and BuntingMailWaits. */
const maxFailures = 10;
const maxWaitingEvents = 1_000;
const maxMailWaitSeconds = 900;

async function checkDeliveries(name: string, database: Database): Promise<Finding[]> {
  const rows = await database.read<{ id: number; provider: string; failures: number; waiting: number; dead: number }>({
    text: `
      select i.id, provider, case when i.enabled then d.failures else 0 end as failures,
        count(next_attempt_at)::int as waiting, (count(p.id) - count(next_attempt_at))::int as dead
      from integration i join destination d on d.integration_id = i.id left join parked_delivery p on p.integration_id = i.id
      group by i.id, d.failures order by i.id`,
  });
  const findings = rows.flatMap(({ id, provider, failures, waiting, dead }) => {
    const problems = [
      ...(failures >= maxFailures ? [`the last ${failures} attempts failed`] : []),
      ...(waiting >= maxWaitingEvents ? [`${waiting} events wait, and it gets no new ones`] : []),
      ...(dead > 0 ? [`${dead} events are dead letters`] : []),
    ];
    if (problems.length === 0) return [];
    const problem = `integration ${id} (${provider}): ${problems.join('; ')}. Administration, Integrations in the console says why and sends them again; see docs/runbook.md.`;
    return [failedCheck(name, problem)];
  });
  const [mail] = await database.read<{ mails: number; seconds: number }>({
    text: `select count(*)::int as mails, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from mail`,
  });
  if (mail !== undefined && mail.seconds > maxMailWaitSeconds)
    findings.push(
      failedCheck(
        name,
        `${mail.mails} mails to people wait for the mail server, the first for ${mail.seconds.toFixed(0)} s. Look for it in the log of integrations, and see docs/runbook.md.`,
      ),
    );
  return findings.length === 0 ? [passedCheck(name, 'destinations and the mail server take what is sent')] : findings;
}

async function checkReadReplica(name: string, url: string, primary: Database): Promise<Finding> {
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
}

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
export async function checkDatabase(
  { service, url, replicaUrl }: DatabaseToCheck,
  { checkedServers, minFreeGib }: { readonly checkedServers: Set<string>; readonly minFreeGib: number },
): Promise<readonly Finding[]> {
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
    if (state?.hasIntegrations === true)
      findings.push(...(await checkSignals(service, database)), ...(await checkDeliveries(service, database)));
    if (replicaUrl !== undefined) findings.push(await checkReadReplica(service, replicaUrl, database));
    return findings;
  } catch (error) {
    return [failedCheck(service, `${reasonOf(error)} Look at the log of PostgreSQL.`)];
  } finally {
    await database.close();
  }
}
