import { randomUUID } from 'node:crypto';
import { unavailable } from '@bunting/contracts';
import { type Database, type PinnedConnection, prepared, refusalForFailure } from '@bunting/database';
import type { Projection } from '@bunting/outbox';
import { type Log, type Loop, startLoop } from '@bunting/runtime';
import { Gauge, type Registry } from 'prom-client';
import type { PendingPrivateProjects } from './project-store.ts';

/** How long PostgreSQL may take to deliver a notification of this process to itself. */
const probeTimeoutMs = 15_000;

interface ListenerOptions {
  /** called with the table whose rights or tokens have changed, and without one when notifications may have been missed */
  readonly onChange: (table?: string) => void;
  /** called when the connection was lost: `check` opens another one */
  readonly onLost: () => void;
  readonly probeTimeout?: number;
}

/**
 * Listens on a connection of its own for the notifications of the database that rights or tokens have changed, by whichever replica. While
 * the connection is lost, notifications are lost, too: the TTL of the token cache bounds how long a stale entry is used.
 */
export function accessChangeListener(
  database: Pick<Database, 'session' | 'query'>,
  { onChange, onLost, probeTimeout = probeTimeoutMs }: ListenerOptions,
) {
  const probe = `access_probe_${randomUUID().replaceAll('-', '')}`;
  let current: PinnedConnection | undefined;
  let isStopped = false;
  let onProbe: (arrived: boolean) => void = () => undefined;

  const release = (): void => {
    const connection = current;
    current = undefined;
    connection?.release(true);
  };
  const open = async (): Promise<void> => {
    const connection = await database.session();
    const lose = (): void => {
      if (current !== connection) return;
      release();
      onLost();
    };
    connection.on('error', lose);
    connection.on('end', lose);
    connection.on('notification', ({ channel, payload }) => {
      if (channel === probe) onProbe(true);
      else onChange(payload);
    });
    try {
      await connection.query(`listen ${probe}`);
      await connection.query('listen access_changed');
    } catch (error) {
      connection.release(true);
      throw refusalForFailure(error);
    }
    current = connection;
    // Notifications before `listen` were missed.
    onChange();
  };

  return {
    /** whether notifications arrived when that was last checked, and the connection has not been lost since */
    get isListening(): boolean {
      return current !== undefined;
    },

    /**
     * Connects if necessary, and checks that a notification arrives: a pooler in transaction mode accepts `listen` and delivers nothing.
     * @throws Refusal `ServiceUnavailable`, or the error of PostgreSQL, when changes of other replicas do not arrive
     */
    check: async (): Promise<void> => {
      if (current === undefined) await open();
      if (isStopped) return release();
      let timer: NodeJS.Timeout | undefined;
      const arrival = new Promise<boolean>((resolve) => {
        onProbe = resolve;
        timer = setTimeout(resolve, probeTimeout, false);
      });
      try {
        await database.query(prepared("select pg_notify($1, '')"), [probe]);
        if (await arrival) return;
      } finally {
        clearTimeout(timer);
      }
      release();
      throw unavailable(
        'Notifications of PostgreSQL do not arrive, so a revoked token or right is used until GATEWAY_TOKEN_CACHE_TTL_MS has passed. ' +
          'Behind a pooler, let the gateway connect to PostgreSQL directly or in session mode (GATEWAY_DATABASE_URL).',
      );
    },

    /** Ends a check that waits, and the connection. */
    stop: (): void => {
      isStopped = true;
      onProbe(true);
      release();
    },
  };
}

/** Milliseconds between checks that notifications arrive. */
const intervalMs = 30_000;

interface Options {
  readonly database: Parameters<typeof accessChangeListener>[0];
  /** called with the table whose rights or tokens have changed, and without one when notifications may have been missed */
  readonly onChange: (table?: string) => void;
  readonly metrics?: Registry;
  readonly log: Log;
}

/** Listens for changes of rights and tokens by other replicas, and keeps checking that they arrive. */
export function listenForAccessChanges({ database, onChange, metrics, log }: Options) {
  const listener = accessChangeListener(database, { onChange, onLost: () => loop.wake() });
  const loop = startLoop({
    name: 'The listening for changes of rights and tokens',
    run: listener.check,
    intervalMs,
    log,
  });
  if (metrics !== undefined) {
    new Gauge({
      name: 'bunting_gateway_access_changes_heard',
      help: '1 while changes of rights and tokens by other gateways are heard at once; 0 while only the TTL of the cache ends stale entries',
      registers: [metrics],
      collect() {
        this.set(listener.isListening ? 1 : 0);
      },
    });
  }
  return {
    stop: async (): Promise<void> => {
      listener.stop();
      await loop.stop();
    },
  };
}

const unhidingIntervalMs = 60_000;
/** Maximum milliseconds that a run waits for the states of projects that are committed. */
const catchUpTimeoutMs = 5_000;

interface UnhidingOptions {
  readonly pendingPrivateProjects: Pick<PendingPrivateProjects, 'hasUncommitted' | 'unhideUncommitted'>;
  readonly projects: Pick<Projection, 'catchUp'>;
  readonly log: Log;
}

/**
 * Unhides projects that the gateway hid because they were to become private, though the features service never committed that change. It
 * first waits until the gateway has applied every committed state: while the features service is unavailable, the projects stay hidden.
 */
export async function unhideUncommittedProjects({
  pendingPrivateProjects,
  projects,
}: Omit<UnhidingOptions, 'log'>): Promise<void> {
  if (!(await pendingPrivateProjects.hasUncommitted())) return;
  if ((await projects.catchUp(catchUpTimeoutMs)) === 0) await pendingPrivateProjects.unhideUncommitted();
}

export function startUnhidingUncommittedProjects({ log, ...options }: UnhidingOptions): Pick<Loop, 'stop'> {
  return startLoop({
    name: 'The unhiding of projects whose change was not committed',
    run: () => unhideUncommittedProjects(options),
    intervalMs: unhidingIntervalMs,
    log,
  });
}
