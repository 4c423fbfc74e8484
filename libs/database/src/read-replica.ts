import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientBase, Pool, type PoolClient, type QueryResult } from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { keepAlive } from './connection.ts';
import type { ReadDatabase, Statement } from './database.ts';
import { prepared } from './sql.ts';
import { codeOf, type DatabaseLog, refusalForFailure, silentLog } from './failures.ts';
import { shareNextRun } from './shared-reads.ts';
import { onlyRow } from './sql.ts';

interface ReadReplicaOptions {
  /** the streaming replica */
  readonly url: string;
  /** its primary */
  readonly primary: ReadDatabase;
  /** the application name in `pg_stat_activity` */
  readonly name: string;
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  /** how long a read waits until the replica has replayed what it needs, before it goes to the primary */
  readonly waitMs?: number;
  /** the timeout in milliseconds of reading the replayed position; a replica that exceeds it counts as unavailable */
  readonly positionTimeoutMs?: number;
  readonly metrics?: Registry;
  readonly log?: Pick<DatabaseLog, 'warn'>;
}

/** A position in the write-ahead log of one cluster. */
interface LogPosition {
  /** bytes from the beginning of the log */
  readonly lsn: number;
  readonly timeline: number;
  /** text, because it exceeds 2^53 */
  readonly system: string;
}

/** The replayed position of a server, and whether it is a replica. */
interface ReplayState extends LogPosition {
  readonly isReplica: boolean;
}

/**
 * A commit is acknowledged when it is flushed, or inserted where `synchronous_commit` is off: this position is after each commit that was
 * acknowledged before.
 */
const committedPosition = prepared(`
  select pg_wal_lsn_diff(lsn, '0/0')::bigint as lsn, ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::bigint as timeline,
    (pg_control_system()).system_identifier::text as system
  from (select case current_setting('synchronous_commit')
    when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn) as committed`);

const replayState = prepared(`
  select pg_is_in_recovery() as "isReplica", coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint as lsn,
    (pg_control_recovery()).min_recovery_end_timeline::bigint as timeline,
    (pg_control_system()).system_identifier::text as system`);

/** How long a replica may take to report its position; afterwards it counts as unavailable. */
const defaultPositionTimeoutMs = 1_000;
const connectTimeoutMs = 1_000;
const firstPollMs = 1;
/** The timeout of an inspection, and its poll interval. */
const inspectionTimeoutMs = 1_000;
const inspectionPollMs = 20;
/** How much longer than its statement timeout a replica may take to respond; afterwards it counts as unavailable. */
const responseGraceMs = 5_000;
const queryCanceled = '57014';

/** The replica cannot serve a read. */
class ReplicaError extends Error {
  /** busy if no connection was free in time; other reads may succeed */
  readonly outcome: BypassReason | 'busy';
  constructor(outcome: ReplicaError['outcome'], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

/** Whether the connection ended, rather than that PostgreSQL refused the statement. */
function isLost(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return !/^[0-9]/.test(code) || code.startsWith('08') || code.startsWith('57P');
}

function unavailableError(error: unknown): ReplicaError {
  return error instanceof ReplicaError ? error : new ReplicaError('unavailable', (error as Error).message);
}

/** The error of a read that gets no connection from the pool. */
function noConnectionError(error: Error): ReplicaError {
  return new ReplicaError(
    error.message.startsWith('timeout exceeded when trying to connect') ? 'busy' : 'unavailable',
    error.message,
  );
}

/** @throws ReplicaError when the promise has not settled after so many milliseconds */
async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      promise,
      sleep(ms, undefined, { signal: timer.signal }).then(() => {
        throw new ReplicaError('unavailable', `it has not answered for ${ms} ms`);
      }),
    ]);
  } finally {
    timer.abort();
  }
}

function requireReplicaOf(target: LogPosition, { isReplica, system, timeline }: ReplayState): void {
  const fault =
    system !== target.system
      ? 'it is of another cluster than the primary'
      : !isReplica
        ? 'it is no replica'
        : timeline !== target.timeline
          ? `it has timeline ${timeline} and the primary has ${target.timeline}`
          : undefined;
  if (fault !== undefined) throw new ReplicaError('unavailable', fault);
}

/** How many bytes of the log up to `target` a replica has not replayed. @throws ReplicaError if it is unavailable, or no replica */
async function bytesBehind(client: ClientBase, target: LogPosition, positionTimeoutMs: number): Promise<number> {
  const { rows } = await withTimeout(positionTimeoutMs, client.query<ReplayState>(replayState)).catch(
    (error: unknown) => Promise.reject(unavailableError(error)),
  );
  const state = onlyRow(rows);
  requireReplicaOf(target, state);
  return Math.max(0, target.lsn - state.lsn);
}

/**
 * Checks whether services can use a replica, and waits up to a second until it has replayed all transactions that are committed now.
 * @returns the number of bytes of the log that it then has not replayed
 * @throws Error with the reason why a service cannot use it
 */
export async function inspectReadReplica(url: string, primary: ReadDatabase): Promise<number> {
  const client = new Client({ ...keepAlive, connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  // The query that fails reports a lost connection; without a listener the error would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const target = onlyRow(await primary.read<LogPosition>(committedPosition));
    for (const deadline = performance.now() + inspectionTimeoutMs; ; await sleep(inspectionPollMs)) {
      const bytes = await bytesBehind(client, target, defaultPositionTimeoutMs);
      if (bytes === 0 || performance.now() >= deadline) return bytes;
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Opens a streaming replica for reads. A read sees all transactions that were committed before it, by any process: it reads the position of
 * the primary's log, which concurrent reads share, and takes the result of the replica only if the same connection had replayed that
 * position before. Otherwise, and after any failure of the replica, the primary serves the read. The replica need not be
 * available at the start.
 */
export function openReadReplica({
  url,
  primary,
  name,
  poolMax = 10,
  statementTimeoutMs = 10_000,
  waitMs = 50,
  positionTimeoutMs = defaultPositionTimeoutMs,
  metrics,
  log = silentLog,
}: ReadReplicaOptions) {
  const { host } = new URL(url);
  const pool = new Pool({
    ...keepAlive,
    connectionString: url,
    application_name: `bunting-${name}-reads`,
    max: poolMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + responseGraceMs,
  });
  // The read that fails goes to the primary; without a listener the error would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  const bypass = replicaBypass({ replica: `The read replica of ${name} at ${host}`, log });
  let lagBytes = 0;
  const reads =
    metrics &&
    registerReplicaMetrics(metrics, { isBypassed: () => bypass.reason !== undefined, lagBytes: () => lagBytes });

  const readPosition = shareNextRun(async () => onlyRow(await primary.read<LogPosition>(committedPosition)));

  /** Waits until a connection has replayed a position. */
  const waitFor = async (client: PoolClient, target: LogPosition): Promise<void> => {
    const deadline = performance.now() + waitMs;
    for (let poll = 0; ; poll++) {
      const behind = await bytesBehind(client, target, positionTimeoutMs);
      // The lag when a read arrives, before the read waits for the replica.
      if (poll === 0) lagBytes = behind;
      if (behind === 0) return;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new ReplicaError('behind', `it is ${behind} bytes of the log behind`);
      await sleep(Math.min(firstPollMs * 2 ** poll, leftMs));
    }
  };

  /** @throws ReplicaError if the replica is stale, busy or unavailable; otherwise the error of the statement */
  const readReplica = async <Row>(target: LogPosition, statement: Statement, values: readonly unknown[]) => {
    const client = await pool.connect().catch((error: unknown) => Promise.reject(noConnectionError(error as Error)));
    let isBroken = true;
    try {
      await waitFor(client, target);
      const { rows }: QueryResult = await client.query({ ...statement, values: [...values] });
      isBroken = false;
      return rows as Row[];
    } catch (error) {
      isBroken = error instanceof ReplicaError ? error.outcome === 'unavailable' : isLost(error);
      throw isBroken ? unavailableError(error) : error;
    } finally {
      client.release(isBroken);
    }
  };

  return {
    /** One round trip to the primary, shared by concurrent reads, and two to the replica; or one to the primary alone. */
    read: async <Row>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> => {
      const fromPrimary = (): Promise<Row[]> => primary.read<Row>(statement, values);
      let outcome: ReplicaError['outcome'] = bypass.reason ?? 'unavailable';
      const endBypass = bypass.admit();
      if (endBypass !== undefined) {
        const target = await readPosition().catch(() => undefined);
        // The primary failed: the read fails as well, with the reason.
        if (target === undefined) return fromPrimary();
        try {
          const rows = await readReplica<Row>(target, statement, values);
          endBypass();
          reads?.inc({ outcome: 'replica' });
          return rows;
        } catch (error) {
          if (!(error instanceof ReplicaError)) {
            endBypass();
            // The primary would take as long.
            if (codeOf(error) === queryCanceled) throw refusalForFailure(error);
            // A refused statement is no fault of the replica, unless the replica cancelled it to replay the log.
            return fromPrimary();
          }
          if (error.outcome !== 'busy') bypass.begin(error.outcome, error.message);
          outcome = error.outcome;
        }
      }
      reads?.inc({ outcome });
      return fromPrimary();
    },
    close: (): Promise<void> => pool.end(),
  };
}
export type ReadReplica = ReturnType<typeof openReadReplica>;

/** How long all reads go to the primary after the replica was stale or unavailable. */
const bypassMs = { behind: 500, unavailable: 5_000 };
const repeatWarningAfterMs = 60_000;

/** Why the primary serves all reads. */
type BypassReason = keyof typeof bypassMs;

interface ReplicaBypassOptions {
  /** the replica, as log lines name it */
  readonly replica: string;
  readonly log: Pick<DatabaseLog, 'warn'>;
}

/**
 * The circuit breaker of a replica. After a failure the primary serves all reads for a while. Then one read at a time tries the replica,
 * until one succeeds.
 */
function replicaBypass({ replica, log }: ReplicaBypassOptions) {
  let reason: BypassReason | undefined;
  let endsAt = Number.NEGATIVE_INFINITY;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let hasWarned = false;

  const end = (): void => {
    reason = undefined;
    endsAt = Number.NEGATIVE_INFINITY;
    if (hasWarned) log.warn(`${replica} serves reads again.`);
    hasWarned = false;
  };

  return {
    /** Why the primary serves all reads; undefined while reads go to the replica. */
    get reason() {
      return reason;
    },
    /** Lets a read try the replica. Returns a function to call when the replica has served it; undefined while the replica is bypassed. */
    admit: (): (() => void) | undefined => {
      if (performance.now() < endsAt) return undefined;
      if (reason === undefined) return () => undefined;
      endsAt = performance.now() + bypassMs[reason];
      return end;
    },
    begin: (failure: BypassReason, message: string): void => {
      reason = failure;
      endsAt = performance.now() + bypassMs[failure];
      if (performance.now() - warnedAt < repeatWarningAfterMs) return;
      warnedAt = performance.now();
      hasWarned = true;
      log.warn(
        `${replica} is not used: ${message}. The primary serves its reads. Check the replica and its replication.`,
      );
    },
  };
}

/** Registers the metrics of a read replica. Returns the counter of reads by outcome. */
function registerReplicaMetrics(
  registry: Registry,
  { isBypassed, lagBytes }: { readonly isBypassed: () => boolean; readonly lagBytes: () => number },
): Counter<'outcome'> {
  const registers = [registry];
  new Gauge({
    name: 'bunting_database_replica_bypassed',
    help: '1 while the primary serves all reads because the read replica is behind or unavailable',
    registers,
    collect() {
      this.set(isBypassed() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bunting_database_replica_lag_bytes',
    help: 'bytes of the log that the read replica had not replayed yet when a read last tried it',
    registers,
    collect() {
      this.set(lagBytes());
    },
  });
  return new Counter({
    name: 'bunting_database_replica_reads_total',
    help: 'reads with a read replica, by outcome: served by the replica, or by the primary because the replica was behind, busy or unavailable',
    labelNames: ['outcome'],
    registers,
  });
}
