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

/**
 * Starts a TCP proxy that can imitate a network which loses every packet. Until then it forwards connections from a free port of the
 * loopback interface to `targetPort`.
 */
export async function startBlackholeProxy(targetPort: number) {
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
}
export type BlackholeProxy = Awaited<ReturnType<typeof startBlackholeProxy>>;
