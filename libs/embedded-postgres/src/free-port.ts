import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** Ports that this process has returned; the program that uses one may not listen on it yet. */
const returnedPorts = new Set<number>();

/**
 * A TCP port of this machine that is free, and likely to stay free until a program listens on it, also after a restart: it is below the
 * range from which systems assign ports to listeners and outgoing connections. No port is returned twice.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (returnedPorts.has(port)) continue;
    returnedPorts.add(port);
    if (await isFree(port)) return port;
  }
};
