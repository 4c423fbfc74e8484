import type { ReadDatabase } from '@bunting/database';
import { open, statfs } from 'node:fs/promises';
import path from 'node:path';
import { type Finding, passedCheck, failedCheck } from './finding.ts';

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

const checkSlots = async (name: string, database: ReadDatabase): Promise<Finding[]> => {
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
};

const checkArchive = async (name: string, database: ReadDatabase): Promise<Finding[]> => {
  const [failure] = await database.read<{ lastFailed: string; failedSecondsAgo: number }>(archiver);
  if (failure === undefined) return [];
  const { lastFailed, failedSecondsAgo } = failure;
  return [
    failedCheck(
      name,
      `archive_command has failed for ${lastFailed} (${failedSecondsAgo.toFixed(0)} s ago), so the log stays on the disk and cannot be restored from. Correct the command; the log of PostgreSQL says why it fails.`,
    ),
  ];
};

/** The identifier of the cluster whose files are in a folder of this machine; undefined if it cannot be read. */
const systemAt = async (dataFolder: string): Promise<string | undefined> => {
  const file = await open(path.join(dataFolder, 'global', 'pg_control'), 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return bytesRead === 8 ? buffer.readBigUInt64LE().toString() : undefined;
  } finally {
    await file.close();
  }
};

const checkDisk = async (name: string, { dataFolder, system }: ServerState, minFreeGib: number): Promise<Finding> => {
  if (dataFolder === null || (await systemAt(dataFolder)) !== system)
    return passedCheck(name, 'its disk cannot be seen from here: watch it on its machine');
  const { bavail, bsize } = await statfs(dataFolder);
  const freeGib = (bavail * bsize) / gib;
  const freeText = `${freeGib.toFixed(1)} GiB are free at ${dataFolder}`;
  return freeGib < minFreeGib
    ? failedCheck(name, `only ${freeText}. Free some space: without it every write is rejected with 503.`)
    : passedCheck(name, freeText);
};

/** Checks a PostgreSQL server: its clock, connections, replication slots, archive and disk. */
export const checkPostgres = async (
  name: string,
  database: ReadDatabase,
  { minFreeGib }: { readonly minFreeGib: number },
): Promise<{ readonly state: ServerState; readonly findings: readonly Finding[] }> => {
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
};
