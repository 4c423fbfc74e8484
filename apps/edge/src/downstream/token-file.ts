import { Refusal, ValidEdgeTokens } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { type Log, startLoop } from '@bunting/runtime';
import { checkedFiles, type Files, reasonOf } from '../snapshots/checked-files.ts';
import type { EdgeToken } from './token.ts';

const format = 'bunting-tokens';
const fileName = `known.${format}`;
const maxBytes = 64 * 1024 * 1024;
const maxPauseMs = 60_000;

export interface TokenFileOptions {
  readonly folder: string;
  readonly log: Log;
  /** the file system, for tests */
  readonly files?: Files;
}

/**
 * Keeps the known tokens for a start without the origin, in a file that only the user of the edge may read. A write that fails is logged and
 * tried again; until it succeeds, the edge would know those of an earlier time after such a start.
 */
export function openTokenFile({ folder, log, files }: TokenFileOptions) {
  const checked = checkedFiles(folder, { format, version: 1, maxBytes }, files);
  /** what is to be written */
  let pending: (() => readonly EdgeToken[]) | undefined;

  const save = async (): Promise<void> => {
    const all = pending;
    if (all === undefined) return;
    pending = undefined;
    try {
      await checked.prepare();
      await checked.write(fileName, { tokens: all() });
    } catch (error) {
      pending ??= all;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Refusal('ServiceUnavailable', `The known tokens cannot be written to ${folder} (${code ?? message}).`);
    }
  };
  const loop = startLoop({
    name: 'Writing the known tokens',
    run: save,
    intervalMs: maxPauseMs,
    minIntervalMs: 1_000,
    burst: 1,
    maxBackoffMs: 5_000,
    log,
  });
  return {
    /** The tokens of the last run; undefined where there is no file of them, or none that can be used, which is logged. */
    read: async (): Promise<readonly EdgeToken[] | undefined> => {
      try {
        return parse(ValidEdgeTokens, await checked.read(fileName), '').tokens;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn(
            `The file ${fileName} of the known tokens in ${folder} ${reasonOf(error)}. It is left out, and replaced.`,
          );
        return undefined;
      }
    },
    /** Writes the tokens that `all` returns then. */
    changed: (all: () => readonly EdgeToken[]): void => {
      pending = all;
      loop.wake();
    },
    /** Writes what is pending once more. */
    close: async (): Promise<void> => {
      await loop.stop();
      await save().catch(() => undefined);
    },
  };
}
