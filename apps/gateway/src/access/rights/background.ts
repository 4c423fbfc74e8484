import { unavailable } from '@bunting/contracts';
import { type Database, type PinnedConnection, refusalForFailure } from '@bunting/database';
import { randomUUID } from 'node:crypto';

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
export const accessChangeListener = (
  database: Pick<Database, 'session' | 'query'>,
  { onChange, onLost, probeTimeout = probeTimeoutMs }: ListenerOptions,
) => {
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
        await database.query({ name: 'probe-access-listener', text: "select pg_notify($1, '')" }, [probe]);
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
};
