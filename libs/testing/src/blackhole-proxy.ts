import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards connections on a free port of the loopback interface to another port of it. */
export const startBlackholeProxy = async (targetPort: number) => {
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  let swallowing = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (swallowing) return void client.resume();
    const upstream = connect(targetPort, '127.0.0.1');
    track(upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => lost.has(from) || to.write(data));
      from.once('close', () => lost.has(from) || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on accepts connections and data, forwards nothing, and closes nothing. */
    swallow: (): void => {
      swallowing = true;
      for (const socket of sockets) lost.add(socket);
    },
    /** Forwards new connections again; those of before stay lost, as to a server that has moved. */
    forwardNew: (): void => void (swallowing = false),
    stop: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
/** A TCP proxy that can imitate a network that loses every packet. */
export type BlackholeProxy = Awaited<ReturnType<typeof startBlackholeProxy>>;
