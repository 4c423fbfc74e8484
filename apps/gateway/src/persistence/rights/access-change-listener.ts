import type { Database, Session } from '@bunting/database';

const retryMs = 1_000;

/**
 * Says whenever anything changed in who may do what, on whichever replica: the database itself announces it. While the connection is
 * lost nothing is heard; what is remembered must grow old by itself.
 */
export const listenForAccessChanges = (
  database: Database,
  changed: () => void,
): { readonly stop: () => Promise<void> } => {
  let session: Session | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();

  const lose = (lost: Session): void => {
    if (session !== lost) return;
    session = undefined;
    lost.release(true);
    again();
  };
  const again = (): void => {
    if (!stopped) timer = setTimeout(connect, retryMs).unref();
  };
  const open = async (): Promise<void> => {
    let opened: Session | undefined;
    try {
      const connection = (opened = await database.session());
      connection.on('error', () => lose(connection));
      connection.on('end', () => lose(connection));
      connection.on('notification', changed);
      await connection.query('listen access_changed');
      session = connection;
      // Whatever was announced before was not heard.
      changed();
    } catch {
      opened?.release(true);
      again();
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
