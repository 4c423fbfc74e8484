import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards connections on a free port of the loopback interface to another port of it. */
export const startBlackholeProxy = async (targetPort: number) => {
  const sockets = new Set<Socket>();
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
      from.on('data', (data) => swallowing || to.write(data));
      from.once('close', () => swallowing || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on accepts connections and data, forwards nothing, and closes nothing. */
    swallow: (): void => void (swallowing = true),
    stop: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
/** A TCP proxy that can imitate a network that loses every packet. */
export type BlackholeProxy = Awaited<ReturnType<typeof startBlackholeProxy>>;
