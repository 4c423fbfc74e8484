import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { ValidEdgeTokens } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Log, logFailure } from '@bunting/runtime';
import type { EdgeToken } from './token.ts';

const fileName = 'tokens.json';

/** The tokens of the last run; none where there is no such file, or where it cannot be read, which is logged. */
async function readTokens(file: string, log: Log): Promise<readonly EdgeToken[]> {
  try {
    return parse(ValidEdgeTokens, JSON.parse(await readFile(file, 'utf8')), '').tokens;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      logFailure(log, 'The known tokens in BACKUP_FOLDER cannot be read: tokens are validated at the origin', error);
    return [];
  }
}

async function writeTokens(file: string, tokens: readonly EdgeToken[]): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(JSON.stringify({ tokens }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}

/**
 * Keeps the known tokens for a start without the origin, in a file that only the user of the edge may read. A write that fails is logged; the
 * edge then knows fewer tokens after such a start.
 */
export async function openTokenFile(folder: string, log: Log) {
  const file = path.join(folder, fileName);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) =>
    logFailure(log, 'BACKUP_FOLDER cannot be created', error),
  );
  let writing = Promise.resolve();
  let isScheduled = false;
  return {
    read: () => readTokens(file, log),
    /** Writes the tokens that `all` returns then, once a running write has ended. */
    changed: (all: () => readonly EdgeToken[]): void => {
      if (isScheduled) return;
      isScheduled = true;
      writing = writing
        .then(() => {
          isScheduled = false;
          return writeTokens(file, all());
        })
        .catch((error: unknown) => logFailure(log, 'The known tokens are not stored in BACKUP_FOLDER', error));
    },
    close: (): Promise<void> => writing,
  };
}
