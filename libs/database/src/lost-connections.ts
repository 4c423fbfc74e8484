import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Client, type PoolClient } from 'pg';
import type { DatabaseLog } from './failures.ts';
import { shareNextRun } from './shared-reads.ts';

/**
 * The error of the statements on a connection that was lost without a sign. PostgreSQL has ended its session before they fail, so that none
 * of them can take effect any more.
 */
export class LostConnectionError extends Error {
  /** whether the transaction of the statement was rolled back; a single statement, and a COMMIT, may have taken effect before the loss */
  readonly isRolledBack: boolean;

  constructor({ isRolledBack = false }: { readonly isRolledBack?: boolean } = {}) {
    super('The connection was lost without a sign.');
    this.isRolledBack = isRolledBack;
  }
}

/** Whether a statement failed because its connection was lost without a sign. */
export function isLostConnection(error: unknown): boolean {
  for (let link = error; link instanceof Error; link = link.cause) if (link instanceof LostConnectionError) return true;
  return false;
}

interface WatchOptions {
  readonly url: string;
  /** the application name of the connection with which PostgreSQL is asked about the others */
  readonly name: string;
  /** after how many milliseconds without a response PostgreSQL is asked */
  readonly suspectAfterMs?: number;
  /** after how many milliseconds without a response a connection counts as lost, whatever PostgreSQL says */
  readonly lostAfterMs: number;
  readonly log: Pick<DatabaseLog, 'warn'>;
}

interface Watched {
  readonly client: PoolClient;
  readonly stream: Socket;
  /** of PostgreSQL's process for the connection */
  readonly pid: number;
  /** Sends a statement of its own, whose response shows that the connection works. */
  readonly ping: () => void;
  inFlight: number;
}

/** What PostgreSQL says of the process of a connection. */
interface Session {
  readonly pid: number;
  /** whether it waits for this process: for a statement, or for its response to be taken */
  readonly isWaiting: boolean | null;
  readonly since: string | null;
}

const ownSessions = 'pg_stat_activity where datname = current_database() and usename = current_user';
const selectSessions = `
  select pid, state like 'idle%' or wait_event is not distinct from 'ClientWrite' as "isWaiting", state_change::text as since
  from ${ownSessions} and pid = any ($1)`;
/** Ends sessions in which nothing has happened since a time, and waits until they have ended. */
const endSessions = `
  select session.pid, pg_terminate_backend(session.pid, 2000) as "hasEnded"
  from (select * from ${ownSessions}) as session
  join unnest($1::integer[], $2::text[]) as lost (pid, since) on lost.pid = session.pid and lost.since = session.state_change::text`;

/** Between two looks at the sessions, in which packets on their way arrive and a busy server responds. */
const lookAgainAfterMs = 250;
const connectTimeoutMs = 3_000;
const probeTimeoutMs = 5_000;

/** Asks PostgreSQL over a new connection. */
async function overNewConnection<T>(
  { url, name }: Pick<WatchOptions, 'url' | 'name'>,
  ask: (client: Client, pid: number) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: probeTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await ask(client, pidOf(client));
  } finally {
    void client.end().catch(() => undefined);
  }
}

function pidOf(client: Client | PoolClient): number {
  return (client as unknown as { readonly processID: number }).processID;
}

async function sessionsOf(client: Client, pids: readonly number[]): Promise<ReadonlyMap<number, Session>> {
  const { rows } = await client.query<Session>(selectSessions, [pids]);
  return new Map(rows.map((session) => [session.pid, session]));
}

/** Whether a session that nothing was heard of has ended, or waits for this process since the same time as before. */
function looksLost(before: Session | undefined, now: Session | undefined): boolean {
  if (now === undefined) return before === undefined;
  return before?.isWaiting === true && now.isWaiting === true && before.since === now.since;
}

/**
 * Finds connections of which every packet is lost, as behind a firewall that has forgotten them: neither end sees them close. PostgreSQL is
 * asked about a connection over another one when a statement has had no response for a while. A session that does not exist, or that waits
 * for a statement while one is in flight, is lost, and all others of the pool are checked as well, since they took the same way; one that
 * works for long is not. PostgreSQL ends what it has of a lost session before its statements fail: its locks are free then, and a COMMIT on
 * its way comes too late. Behind a pooler, which has sessions of its own, nothing is known, and only `lostAfterMs` counts.
 */
export function watchForLostConnections(options: WatchOptions) {
  const { suspectAfterMs = 1_500, lostAfterMs, log } = options;
  const watched = new Set<Watched>();
  const lostClients = new WeakSet<PoolClient>();

  const lose = (lost: readonly Watched[]): void => {
    for (const { client, stream } of lost) {
      lostClients.add(client);
      stream.destroy(new LostConnectionError());
    }
    if (lost.length > 0)
      log.warn(
        `PostgreSQL and ${options.name} did not hear from each other on ${lost.length} of ${watched.size} connections: the network has lost them without a sign. New ones replace them.`,
      );
  };

  const probe = shareNextRun(async (): Promise<void> => {
    const all = [...watched];
    const pids = all.map(({ pid }) => pid);
    const bytesBefore = new Map(all.map((one) => [one, one.stream.bytesRead]));
    const isSilent = (one: Watched): boolean => one.inFlight > 0 && one.stream.bytesRead === bytesBefore.get(one);
    const silent = () => all.filter((one) => watched.has(one) && isSilent(one));
    await overNewConnection(options, async (client, ownPid) => {
      const before = await sessionsOf(client, [...pids, ownPid]);
      // A pooler has other processes than those that it names to its clients.
      if (!before.has(ownPid)) return;
      if (silent().every(({ pid }) => before.get(pid)?.isWaiting === false)) return;
      for (const one of all) if (one.inFlight === 0) one.ping();
      await sleep(lookAgainAfterMs);
      const now = await sessionsOf(client, pids);
      const candidates = silent().filter(({ pid }) => looksLost(before.get(pid), now.get(pid)));
      // What has arrived meanwhile is read first.
      await setImmediate();
      const lost = candidates.filter(isSilent);
      const open = lost.flatMap(({ pid }) => now.get(pid) ?? []);
      const { rows } = await client.query<{ pid: number; hasEnded: boolean }>(endSessions, [
        open.map(({ pid }) => pid),
        open.map(({ since }) => since),
      ]);
      const ended = new Set(rows.flatMap(({ pid, hasEnded }) => (hasEnded ? [pid] : [])));
      lose(lost.filter(({ pid }) => !now.has(pid) || ended.has(pid)));
    });
  });

  return {
    /** Whether a connection was found to be lost: what it had not committed is rolled back. */
    wasLost: (client: PoolClient): boolean => lostClients.has(client),

    /** Watches over the responses to the statements of a connection. One timer does for all that are in flight. */
    watch: (client: PoolClient, ping: () => void) => {
      const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
      const one: Watched = { client, stream, pid: pidOf(client), ping, inFlight: 0 };
      watched.add(one);
      client.once('end', () => watched.delete(one));
      let waitingSince = 0;
      let timer: NodeJS.Timeout | undefined;
      const check = (): void => {
        timer = undefined;
        if (one.inFlight === 0) return;
        const silentMs = performance.now() - waitingSince;
        if (silentMs >= lostAfterMs) return void stream.destroy(new Error('Query read timeout'));
        const isSuspect = silentMs >= suspectAfterMs;
        // While PostgreSQL accepts no connection either, nothing is known, and the next check asks again.
        if (isSuspect) probe().catch(() => undefined);
        checkAfter(isSuspect ? Math.min(suspectAfterMs, lostAfterMs - silentMs) : suspectAfterMs - silentMs);
      };
      const checkAfter = (ms: number): void => {
        timer = setTimeout(check, ms).unref();
      };
      return {
        /** @returns whether no other statement is in flight */
        sent: (): boolean => {
          if (timer === undefined) checkAfter(suspectAfterMs);
          if (one.inFlight++ > 0) return false;
          waitingSince = performance.now();
          return true;
        },
        responded: (): void => {
          one.inFlight--;
          waitingSince = performance.now();
        },
      };
    },
  };
}
export type LostConnectionWatch = ReturnType<typeof watchForLostConnections>;
