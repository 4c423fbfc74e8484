import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of the bytes of one connection, each way. Whoever is to get some of them is handed them by `to…`. */
export interface Reader {
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
}

export interface Ends {
  toClient(bytes: Buffer): void;
  toServer(bytes: Buffer): void;
}

/** A wire between one process and one server, which can be listened to, and cut. */
export interface Wire {
  readonly port: number;
  /** Ends all connections, and takes no new ones until it is mended. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Puts a wire before the server at a port of this machine. The process at the other end cannot tell. */
export const wireTo = async (serverPort: () => number, read: (ends: Ends) => Reader): Promise<Wire> => {
  const sockets = new Set<Socket>();
  let isCut = false;

  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(serverPort(), '127.0.0.1');
    const pass = (to: Socket) => (bytes: Buffer) => void (to.destroyed || to.write(bytes));
    const reader = read({ toClient: pass(client), toServer: pass(upstream) });
    for (const [from, to, take] of [
      [client, upstream, reader.fromClient],
      [upstream, client, reader.fromServer],
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
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => void (isCut = false),
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
};
