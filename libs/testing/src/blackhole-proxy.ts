import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Starts a TCP proxy that can imitate a network which loses every packet. Until then it forwards connections from a free port of the
 * loopback interface to `targetPort`.
 */
export const startBlackholeProxy = async (targetPort: number) => {
  const sockets = new Set<Socket>();
  const lostSockets = new WeakSet<Socket>();
  let isSwallowing = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (isSwallowing) return void client.resume();
    const upstream = connect(targetPort, '127.0.0.1');
    track(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => lostSockets.has(from) || to.write(data));
      from.once('close', () => lostSockets.has(from) || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on the proxy accepts connections and data, but forwards and closes nothing. */
    swallow: (): void => {
      isSwallowing = true;
      for (const socket of sockets) lostSockets.add(socket);
    },
    /** Forwards new connections again; earlier ones stay lost, as those to a server that has moved. */
    forwardNewConnections: (): void => void (isSwallowing = false),
    stop: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
export type BlackholeProxy = Awaited<ReturnType<typeof startBlackholeProxy>>;
