import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ApiResponse } from './clients.ts';
import type { Platform } from './platform.ts';

/**
 * A proxy that imitates a bad network: it forwards the request, and closes the client's connection at the first byte of the response. The
 * request has taken effect by then, which the client cannot tell.
 */
export const startCuttingProxy = async (target: string) => {
  const { hostname, port } = new URL(target);
  const openSockets = new Set<Socket>();
  let cutResponses = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      openSockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        openSockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.once('data', () => {
      cutResponses++;
      client.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** the number of responses that were cut off */
    get cutResponses() {
      return cutResponses;
    },
    stop: async (): Promise<void> => {
      for (const socket of openSockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>;

/**
 * Sends a body above the size limit and returns the response, which may arrive before the end of the body. Without `declared` the
 * request has no Content-Length.
 */
export const sendLarge = (
  { url, token }: Platform,
  method: string,
  path: string,
  body: Uint8Array,
  { declared }: { readonly declared: boolean },
): Promise<ApiResponse> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = {
      authorization: token,
      'content-type': 'application/json',
      ...(declared && { 'content-length': body.length }),
    };
    let hasResponse = false;
    const receive = (response: IncomingMessage): void => {
      hasResponse = true;
      const ms = performance.now() - startedAt;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('error', () => undefined);
      response.once('close', () => {
        const received = new Headers(response.headers as Record<string, string>);
        resolve({ status: response.statusCode ?? 0, headers: received, body: JSON.parse(text) as unknown, text, ms });
      });
    };
    const outgoing: ClientRequest = request(`${url}${path}`, { method, headers, agent: false }, receive);
    outgoing.on('error', (error) => hasResponse || reject(error));
    const half = Math.floor(body.length / 2);
    outgoing.write(body.subarray(0, half));
    outgoing.end(body.subarray(half));
  });
