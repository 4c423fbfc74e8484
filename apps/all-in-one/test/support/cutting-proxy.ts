import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A proxy that imitates a bad network: it forwards the request, and closes the client's connection at the first byte of the response. The
 * request has taken effect by then, which the client cannot tell.
 */
export const startCuttingProxy = async (target: string) => {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cut = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.once('data', () => {
      cut++;
      client.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** how many responses were cut */
    get cut() {
      return cut;
    },
    stop: async (): Promise<void> => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>;
