import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may wait on one connection for those before them. */
const maxWaiting = 32;

type PendingRequest = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * Handles the requests of one connection one after the other. Node hands over all that a client sends without waiting for answers, and
 * the answers to most of them would be held in memory until those before them are read. A connection with too many requests waiting is
 * ended, and what waits on a connection that has ended is dropped.
 */
export const serialisePipelinedRequests = (handler: RequestListener): RequestListener => {
  const waiting = new WeakMap<Socket, PendingRequest[]>();

  const handle = ([request, response]: PendingRequest): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = waiting.get(socket)?.shift();
      if (next === undefined || !socket.writable) return void waiting.delete(socket);
      handle(next);
    });
    handler(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      waiting.set(socket, []);
      return handle([request, response]);
    }
    if (queue.length >= maxWaiting) return void socket.destroy();
    queue.push([request, response]);
  };
};
