import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};

/** Ports that this process has reserved; the program that uses one may not listen on it yet. */
const given = new Set<number>();

/**
 * A free port that is likely to stay free until a slowly starting program listens on it: it is below the range from which the
 * system assigns ports to listeners and outgoing connections.
 */
export const reservePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
};
