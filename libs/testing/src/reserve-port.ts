import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const firstPort = 20_000;
const lastPort = 24_999;
/** A process that holds a port also listens on the port at this distance, 25,000 to 29,999, as a lock. */
const lockPortDistance = 5_000;

/** Listens on loopback and resolves with the server, or with undefined where another process does. */
const listenOn = (port: number): Promise<ReturnType<typeof createServer> | undefined> => {
  const server = createServer();
  return new Promise((resolve) => {
    server
      .once('error', () => resolve(undefined))
      .listen(port, '127.0.0.1', () => {
        server.removeAllListeners('error').unref();
        resolve(server);
      });
  });
};

const isFree = async (port: number): Promise<boolean> => {
  const server = await listenOn(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

/**
 * A free TCP port that no other caller gets, in this process or in another, until this process exits: a program that a test starts may
 * listen on it at any time, also after a restart. The lock is a second port that this process listens on, so that the operating system
 * releases it. Programs that choose a port themselves (PostgreSQL, `npm run stack`) choose it from other ranges.
 */
export const reservePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(firstPort, lastPort + 1);
    const lock = await listenOn(port + lockPortDistance);
    if (lock === undefined) continue;
    if (await isFree(port)) return port;
    lock.close();
  }
};
