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
 * A free TCP port of the range (`to` excluded); no port is returned twice. Another process may take it before a program listens on it.
 * Systems assign no ports below 32768 to listeners and outgoing connections: use a range below it.
 */
export const freePort = async (range: { readonly from: number; readonly to: number }): Promise<number> => {
  for (;;) {
    const port = randomInt(range.from, range.to);
    if (returnedPorts.has(port)) continue;
    returnedPorts.add(port);
    if (await isFree(port)) return port;
  }
};
