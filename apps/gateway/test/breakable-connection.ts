import { reservePort, overTcp } from '@bunting/testing';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy between a client and a server, which can cut the connection and restore it. @param to the URL of the server */
export const breakableConnection = async (to: string) => {
  const target = new URL(overTcp(to));
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy()).on('close', () => (other.destroy(), sockets.delete(socket)));
    }
  });
  const port = await reservePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String(port);
  url.hostname = '127.0.0.1';
  return {
    /** the URL of the server through this proxy */
    url: url.href,
    /** Closes every connection, and accepts no new ones. */
    cut: async (): Promise<void> => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: async (): Promise<void> => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
};
