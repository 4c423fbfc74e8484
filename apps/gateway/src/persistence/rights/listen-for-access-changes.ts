import type { Database, PinnedConnection } from '@bunting/database';

const retryMs = 1_000;

/**
 * Calls `changed` with the table on every notification of the database that rights or tokens changed, on whichever replica; without a table
 * after notifications may have been missed. While the connection is lost
 * notifications are lost too: the TTL of the token cache bounds how long a stale entry is used.
 */
export const listenForAccessChanges = (
  database: Database,
  changed: (table?: string) => void,
): { readonly stop: () => Promise<void> } => {
  let session: PinnedConnection | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();

  const onLost = (lost: PinnedConnection): void => {
    if (session !== lost) return;
    session = undefined;
    lost.release(true);
    reconnect();
  };
  const reconnect = (): void => {
    if (!stopped) timer = setTimeout(connect, retryMs).unref();
  };
  const open = async (): Promise<void> => {
    let opened: PinnedConnection | undefined;
    try {
      const connection = (opened = await database.session());
      connection.on('error', () => onLost(connection));
      connection.on('end', () => onLost(connection));
      connection.on('notification', ({ payload }) => changed(payload));
      await connection.query('listen access_changed');
      session = connection;
      // Notifications before `listen` were missed.
      changed();
    } catch {
      opened?.release(true);
      reconnect();
    }
  };
  const connect = (): void => {
    connecting = open();
  };
  connect();

  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await connecting;
      const last = session;
      session = undefined;
      last?.release(true);
    },
  };
};
