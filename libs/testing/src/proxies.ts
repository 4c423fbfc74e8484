import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const probeIntervalMs = 250;
const probeTimeoutMs = 5_000;

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(probeTimeoutMs) }).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
}

/**
 * Starts a TCP load balancer on the loopback interface. It sends each new connection to the next server whose last probe of `/health/ready`
 * succeeded.
 */
export async function startBalancer(urls: readonly string[]) {
  let ready: readonly string[] = [];
  let connectionCount = 0;
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.setNoDelay(true).once('close', () => sockets.delete(socket));
  };

  const probe = async (): Promise<void> => {
    const healthy = await Promise.all(urls.map(isReady));
    ready = urls.filter((_url, index) => healthy[index]);
  };
  await probe();
  const probing = setInterval(() => void probe(), probeIntervalMs);

  const forward = (client: Socket, attempts: number): void => {
    const url = ready[connectionCount++ % ready.length];
    if (url === undefined || attempts > urls.length) return void client.destroy();
    const { hostname, port } = new URL(url);
    const upstream = track(connect({ host: hostname, port: Number(port), allowHalfOpen: true }));
    // A server that refuses the connection has received nothing of it, so the next one can take it.
    const tryNext = () => forward(client, attempts + 1);
    upstream.once('error', tryNext).once('connect', () => {
      upstream.off('error', tryNext).on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  };
  const server = createServer({ allowHalfOpen: true }, (client) =>
    forward(
      track(client).on('error', () => undefined),
      0,
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** the servers whose last probe succeeded */
    ready: (): readonly string[] => ready,
    stop: async (): Promise<void> => {
      clearInterval(probing);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/** Takes the bytes of one connection in both directions, and forwards them to its endpoints, or not. */
export interface Interceptor {
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
}

export interface Endpoints {
  toClient(bytes: Buffer): void;
  toServer(bytes: Buffer): void;
}

function forwardAll({ toClient, toServer }: Endpoints): Interceptor {
  return { fromClient: toServer, fromServer: toClient };
}

/** The time after which a server closes a connection whose other end has vanished (`keepAlive` of libs/database). */
const tcpKeepAliveMs = 30_000;

/** Starts a TCP proxy to a port of this machine, which can imitate a bad network. */
export async function startTcpProxy(
  serverPort: number | (() => number),
  intercept: (endpoints: Endpoints) => Interceptor = forwardAll,
) {
  const sockets = new Set<Socket>();
  /** sockets whose packets are lost */
  const lostSockets = new WeakSet<Socket>();
  const upstreams = new Set<Socket>();
  let isDisconnected = false;
  let isSwallowing = false;
  const track = (socket: Socket): void => {
    sockets.add(socket.setNoDelay(true).on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    if (isDisconnected) return void client.destroy();
    track(client);
    if (isSwallowing) return void client.resume();
    const upstream = connect(typeof serverPort === 'number' ? serverPort : serverPort(), '127.0.0.1');
    track(upstream);
    upstreams.add(upstream);
    upstream.once('close', () => upstreams.delete(upstream));
    const forwardTo = (to: Socket) => (bytes: Buffer) => void (to.destroyed || lostSockets.has(to) || to.write(bytes));
    const interceptor = intercept({ toClient: forwardTo(client), toServer: forwardTo(upstream) });
    for (const [from, to, onData] of [
      [client, upstream, interceptor.fromClient],
      [upstream, client, interceptor.fromServer],
    ] as const) {
      from.on('data', onData);
      from.once('close', () => lostSockets.has(from) || to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const disconnect = (): void => {
    isDisconnected = true;
    for (const socket of sockets) socket.destroy();
  };
  const loseAll = (): void => {
    for (const socket of sockets) lostSockets.add(socket);
  };
  return {
    port: (server.address() as AddressInfo).port,
    /** Closes all connections, and ends new ones at once, until `reconnect`. */
    disconnect,
    reconnect: (): void => void (isDisconnected = false),
    /**
     * Drops every further packet of the open connections, like a firewall that has lost its state: neither end sees them close. New
     * connections work. The server closes its ends of the connections after the half minute that TCP keep-alive takes.
     */
    loseConnections: (): void => {
      loseAll();
      const serverEnds = [...upstreams];
      setTimeout(() => {
        for (const socket of serverEnds) socket.destroy();
      }, tcpKeepAliveMs).unref();
    },
    /** From now on the proxy accepts connections and data, but forwards and closes nothing. */
    swallow: (): void => {
      isSwallowing = true;
      loseAll();
    },
    /** Forwards new connections again; earlier ones stay lost, as those to a server that has moved. */
    forwardNewConnections: (): void => void (isSwallowing = false),
    stop: async (): Promise<void> => {
      disconnect();
      server.close();
      await once(server, 'close');
    },
  };
}
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;
