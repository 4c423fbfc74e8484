import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Receives the bytes of one connection in both directions, and forwards them to its endpoints. */
export interface Interceptor {
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
}

export interface Endpoints {
  toClient(bytes: Buffer): void;
  toServer(bytes: Buffer): void;
}

/** Starts a proxy to the server at a port of this machine. */
export const startProxy = async (serverPort: () => number, intercept: (endpoints: Endpoints) => Interceptor) => {
  const sockets = new Set<Socket>();
  let isDisconnected = false;

  const server = createServer((client) => {
    if (isDisconnected) return void client.destroy();
    const upstream = connect(serverPort(), '127.0.0.1');
    const pass = (to: Socket) => (bytes: Buffer) => void (to.destroyed || to.write(bytes));
    const interceptor = intercept({ toClient: pass(client), toServer: pass(upstream) });
    for (const [from, to, take] of [
      [client, upstream, interceptor.fromClient],
      [upstream, client, interceptor.fromServer],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', take);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const disconnect = (): void => {
    isDisconnected = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    /** Closes all connections, and accepts no new ones until `reconnect`. */
    disconnect,
    reconnect: (): void => void (isDisconnected = false),
    close: async (): Promise<void> => {
      disconnect();
      server.close();
      await once(server, 'close');
    },
  };
};
