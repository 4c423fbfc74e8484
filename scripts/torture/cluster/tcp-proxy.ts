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

/** The time after which a server closes a connection whose other end has vanished (`keepAlive` of libs/database). */
const tcpKeepAliveMs = 30_000;

/** Starts a proxy to the server at a port of this machine. */
export const startTcpProxy = async (serverPort: () => number, intercept: (endpoints: Endpoints) => Interceptor) => {
  const sockets = new Set<Socket>();
  /** sockets whose packets are lost */
  const lostSockets = new WeakSet<Socket>();
  const upstreams = new Set<Socket>();
  let isDisconnected = false;

  const server = createServer((client) => {
    if (isDisconnected) return void client.destroy();
    const upstream = connect(serverPort(), '127.0.0.1');
    upstreams.add(upstream);
    const forwardTo = (to: Socket) => (bytes: Buffer) => void (to.destroyed || lostSockets.has(to) || to.write(bytes));
    const interceptor = intercept({ toClient: forwardTo(client), toServer: forwardTo(upstream) });
    for (const [from, to, onData] of [
      [client, upstream, interceptor.fromClient],
      [upstream, client, interceptor.fromServer],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', onData);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        upstreams.delete(from);
        if (!lostSockets.has(from)) to.destroy();
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
     * Drops every further packet of the open connections, like a firewall that has lost its state: neither end sees them close. New
     * connections work. The server closes its ends of the connections after the half minute that TCP keep-alive takes.
     */
    loseConnections: (): void => {
      for (const socket of sockets) lostSockets.add(socket);
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
