import type { Database, PinnedConnection } from '@bunting/database';

const retryMs = 1_000;

/**
 * Calls `onChange` with the name of the table on every notification of the database that rights or tokens have changed, by whichever
 * replica, and without a name when notifications may have been missed. While the connection is lost, notifications are lost, too: the TTL
 * of the token cache bounds how long a stale entry is used.
 */
export const listenForAccessChanges = (
  database: Database,
  onChange: (table?: string) => void,
): { readonly stop: () => Promise<void> } => {
  let current: PinnedConnection | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();

  const onLost = (connection: PinnedConnection): void => {
    if (current !== connection) return;
    current = undefined;
    connection.release(true);
    reconnect();
  };
  const reconnect = (): void => {
    if (!isStopped) timer = setTimeout(connect, retryMs).unref();
  };
  const open = async (): Promise<void> => {
    let opened: PinnedConnection | undefined;
    try {
      const connection = (opened = await database.session());
      connection.on('error', () => onLost(connection));
      connection.on('end', () => onLost(connection));
      connection.on('notification', ({ payload }) => onChange(payload));
      await connection.query('listen access_changed');
      current = connection;
      // Notifications before `listen` were missed.
      onChange();
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
      isStopped = true;
      clearTimeout(timer);
      await connecting;
      const connection = current;
      current = undefined;
      connection?.release(true);
    },
  };
};
