import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const firstPort = 20_000;
const lastPort = 24_999;
/** A process that holds a port also listens on the port at this distance, 25,000 to 29,999, as a lock. */
const lockPortDistance = 5_000;

/** Listens on loopback and resolves with the server, or with undefined where another process does. */
function listenOn(port: number): Promise<ReturnType<typeof createServer> | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server
      .once('error', () => resolve(undefined))
      .listen(port, '127.0.0.1', () => {
        server.removeAllListeners('error').unref();
        resolve(server);
      });
  });
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/**
 * A free TCP port that no other caller gets, in this process or in another, until this process exits: a program that a test starts may
 * listen on it at any time, also after a restart. The lock is a second port that this process listens on, so that the operating system
 * releases it. Programs that choose a port themselves (PostgreSQL, `npm run stack`) choose it from other ranges.
 */
export async function reservePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort + 1);
    const lock = await listenOn(port + lockPortDistance);
    if (lock === undefined) continue;
    if (await isFree(port)) return port;
    lock.close();
  }
}

// It tries again, because a process that uses the folder may be ending at the same time and write a last file.
const removeWhenInputEnds = 'read _; until rm -rf "$0" 2>/dev/null; do sleep 0.1; done';

/** So much must be free in memory: several times what the servers of all tests store at a time. */
const memoryForFilesGiB = 4;

/**
 * Where tests have their folders: in memory where there is enough, since a database is 300 files, which take a multiple of the CPU on a disk.
 * TMPDIR names another place.
 */
function parentOfFolders(): string {
  const inMemory = '/dev/shm';
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  try {
    accessSync(inMemory, constants.W_OK);
    const { bavail, bsize } = statfsSync(inMemory);
    const freeGiB = Math.min(bavail * bsize, process.availableMemory()) / 2 ** 30;
    return freeGiB < memoryForFilesGiB ? tmpdir() : inMemory;
  } catch {
    return tmpdir();
  }
}

/** Creates a folder that only this user can access. It is removed on request or when this process ends, even if it is killed. */
export function temporaryFolder(name: string) {
  const folder = path.join(parentOfFolders(), name);
  mkdirSync(folder, { mode: 0o700 });
  const remover = spawn('/bin/sh', ['-c', removeWhenInputEnds, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  remover.unref();
  (remover.stdin as Socket).unref();
  return {
    path: folder,
    remove: async (): Promise<void> => {
      if (remover.exitCode !== null) return;
      remover.ref();
      const removed = once(remover, 'exit');
      remover.stdin.end('\n');
      await removed;
    },
  };
}
