import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

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
