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

/** Those that were given away here: who got one may not listen on it yet. */
const given = new Set<number>();

/**
 * A port that is free and likely to stay so until a program that takes its time to start listens on it: below those that the
 * system gives away by itself, to whoever asks for any port or connects to somebody.
 */
export const quietPort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
};
