import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum pipelined requests that wait on one connection. */
const maxWaiting = 32;

type PendingRequest = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of one connection one after the other. Node emits pipelined requests immediately, and would buffer their responses
 * in memory until the client has read those before them. A connection with too many waiting requests is destroyed; requests that wait on
 * a closed connection are dropped.
 */
export const serializePipelinedRequests = (handler: RequestListener): RequestListener => {
  const queues = new WeakMap<Socket, PendingRequest[]>();

  const handle = ([request, response]: PendingRequest): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = queues.get(socket)?.shift();
      if (next === undefined || !socket.writable) return void queues.delete(socket);
      handle(next);
    });
    handler(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket);
    if (queue === undefined) {
      queues.set(socket, []);
      return handle([request, response]);
    }
    if (queue.length >= maxWaiting) return void socket.destroy();
    queue.push([request, response]);
  };
};
