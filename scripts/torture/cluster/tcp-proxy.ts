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

/** After this long a server closes a connection whose other end has vanished (`keepAlive` of libs/database). */
const tcpKeepAliveMs = 30_000;

/** Starts a proxy to the server at a port of this machine. */
export const startTcpProxy = async (serverPort: () => number, intercept: (endpoints: Endpoints) => Interceptor) => {
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  const upstreams = new Set<Socket>();
  let isDisconnected = false;

  const server = createServer((client) => {
    if (isDisconnected) return void client.destroy();
    const upstream = connect(serverPort(), '127.0.0.1');
    upstreams.add(upstream);
    const pass = (to: Socket) => (bytes: Buffer) => void (to.destroyed || lost.has(to) || to.write(bytes));
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
        upstreams.delete(from);
        if (!lost.has(from)) to.destroy();
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
    /**
     * From now on loses every packet of the present connections, like a firewall that has forgotten them: neither end sees them close.
     * New connections work. The server closes its ends after the half minute that TCP keep-alive takes.
     */
    loseConnections: (): void => {
      for (const socket of sockets) lost.add(socket);
      const serverEnds = [...upstreams];
      setTimeout(() => {
        for (const socket of serverEnds) socket.destroy();
      }, tcpKeepAliveMs).unref();
    },
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
