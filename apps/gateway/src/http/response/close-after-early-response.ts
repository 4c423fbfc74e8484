import type { FastifyReply } from 'fastify';
import type { IncomingMessage } from 'node:http';

/** Milliseconds without a byte after which the rest of a refused body is drained no longer. */
const lingerIdleMs = 5_000;
/** Maximum milliseconds for which the rest is drained. Many clients read the response only after they have sent their whole request. */
const maxLingerMs = 30_000;
/** Rejected bodies up to this size are read to their end, so that the connection can be reused. */
const maxBytesReadForReuse = 64 * 1024;

const mayHaveLongRest = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxBytesReadForReuse;

/**
 * Ends the connection after a response that was sent before the whole request arrived, without reading the rest into memory. The rest is
 * drained for a while: closing immediately would reset the connection, and the client would lose the response.
 */
export const closeAfterEarlyResponse = ({ raw, request: { raw: request } }: FastifyReply): void => {
  if (request.complete || !mayHaveLongRest(request)) return;
  const { socket } = request;
  raw.shouldKeepAlive = false;
  socket.destroySoon = () => {
    socket.end();
    const destroy = () => void socket.destroy();
    const idle = setTimeout(destroy, lingerIdleMs).unref();
    const total = setTimeout(destroy, maxLingerMs).unref();
    request.on('data', () => idle.refresh()).resume();
    socket.once('close', () => {
      clearTimeout(idle);
      clearTimeout(total);
    });
  };
};
