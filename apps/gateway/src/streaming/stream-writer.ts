import type { UnreadResponses } from '../admission/unread-responses.ts';
import type { StreamConnection } from '../delivery/streams/stream-connection.ts';
import { keepAliveComment, type ServerSentEvent, writeEvent } from './server-sent-event.ts';

/** Minimum bytes that are counted for a stream whose client does not read. */
const minUnreadBytes = 16 * 1024;

/**
 * Writes to streams with backpressure: a connection whose client does not read is blocked, and what it holds in memory counts as unread,
 * which may end it.
 * @param onRead called when the client of a blocked connection has read everything
 */
export const streamWriter = (unread: Pick<UnreadResponses, 'add'>, onRead: (connection: StreamConnection) => void) => {
  const blockUntilRead = (connection: StreamConnection, bytes: number, shared?: Buffer): void => {
    const { raw, clientKey } = connection;
    connection.isBlocked = true;
    const stopCounting = unread.add(raw, clientKey, Math.max(bytes, minUnreadBytes), {
      shared,
      onEnd: () => void (connection.ending ??= 'unread'),
    });
    raw.once('drain', () => {
      stopCounting();
      connection.isBlocked = false;
      onRead(connection);
    });
  };

  return {
    /** Writes an event, and then `suffix` as it is. */
    writeEvent: (connection: StreamConnection, event: ServerSentEvent, suffix = ''): void => {
      const { data } = event;
      writeEvent(connection.raw, event, suffix);
      if (connection.raw.writableNeedDrain)
        blockUntilRead(connection, data.length, typeof data === 'string' ? undefined : data);
    },
    writeKeepAlive: (connection: StreamConnection): void => {
      connection.raw.write(keepAliveComment);
      if (connection.raw.writableNeedDrain) blockUntilRead(connection, keepAliveComment.length);
    },
  };
};
export type StreamWriter = ReturnType<typeof streamWriter>;
