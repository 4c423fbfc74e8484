import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import path from 'node:path';
import { hashOfBlock, hashesOfRoot } from '@bunting/contracts/id-blocks';
import { maxSegmentListBytes } from '@bunting/contracts';
import type { FetchBlocks, LoadedList } from '@bunting/delivery';
import type { Files } from './checked-files.ts';

/** Blocks that no snapshot names stay for so long: another edge may be about to write the snapshot that does. */
const keptMs = 2 * 60_000;
const blockName = /^[0-9a-f]{64}$/;

export interface BlockFilesOptions {
  readonly folder: string;
  readonly files: Files;
  /** beyond so many bytes no block is written */
  readonly maxBytes: number;
  /** milliseconds for which a block is kept that no snapshot names */
  readonly keptMs?: number;
}

/** Blocks of lists on the disk, each in a file under its hash, which tells whether it is complete. Several processes may share the folder. */
export function blockFiles({ folder, files, maxBytes, keptMs: keptForMs = keptMs }: BlockFilesOptions) {
  const fileOf = (hash: string): string => path.join(folder, hash);
  let bytes = 0;
  /** by root: when the blocks of a list were last seen to be there */
  const seenAt = new Map<string, number>();

  /**
   * The bytes of a block; undefined where it is not there, or damaged, and is then removed.
   * @param unreadable called where it may be there, and cannot be read now
   */
  const read = async (hash: string, unreadable?: () => void): Promise<Uint8Array | undefined> => {
    if (!blockName.test(hash)) return undefined;
    try {
      const handle = await files.open(fileOf(hash), constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const stat = await handle.stat();
        const content = stat.isFile() && stat.size <= maxSegmentListBytes ? await handle.readFile() : undefined;
        if (content !== undefined && hashOfBlock(content).toString('hex') === hash) return new Uint8Array(content);
      } finally {
        await handle.close();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Only a link is no block of this edge; what cannot be read now may be read later.
      if (code !== 'ENOENT' && code !== 'ELOOP') unreadable?.();
      if (code !== 'ELOOP') return undefined;
    }
    await files.unlink(fileOf(hash)).catch(() => undefined);
    return undefined;
  };

  /** Whether a block is there; it then looks as if it were written now, so that no other process removes it. */
  const touch = (hash: string): Promise<boolean> =>
    files.utimes(fileOf(hash), new Date(), new Date()).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );

  const write = async (hash: string, content: Uint8Array): Promise<void> => {
    if (bytes + content.length > maxBytes)
      throw Object.assign(new Error(`the blocks of lists take more than ${maxBytes} bytes`), { code: 'EFBIG' });
    const temporary = path.join(folder, `.${hash}.${randomUUID()}.tmp`);
    try {
      const handle = await files.open(temporary, 'wx', 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await files.rename(temporary, fileOf(hash));
    } catch (error) {
      await files.unlink(temporary).catch(() => undefined);
      throw error;
    }
    bytes += content.length;
  };

  return {
    fetch: (async (hashes) => {
      const found = new Map<string, Uint8Array>();
      for (const hash of hashes) {
        const content = await read(hash);
        if (content !== undefined) found.set(hash, content);
      }
      return found;
    }) satisfies FetchBlocks,
    /**
     * Writes the blocks of a list that are not there, and keeps the others from being removed. When it resolves, a power failure takes none of
     * them.
     */
    writeList: async (root: string, { hashes, blocks }: LoadedList): Promise<void> => {
      // What was there so short a time ago is removed by no process.
      if (performance.now() - (seenAt.get(root) ?? Number.NEGATIVE_INFINITY) < keptForMs / 2) return;
      await files.mkdir(folder, { recursive: true, mode: 0o700 });
      let isChanged = false;
      const writeOnce = async (hash: string, content: Uint8Array): Promise<void> => {
        if (await touch(hash)) return;
        await write(hash, content);
        isChanged = true;
      };
      const names = new Map(hashes.map((hash, nth) => [hash, nth]));
      for (const [hash, nth] of names) {
        const block = blocks[nth];
        if (block !== undefined) await writeOnce(hash, block.text);
      }
      await writeOnce(root, Buffer.from(hashes.join(''), 'hex'));
      if (isChanged) {
        const handle = await files.open(folder, constants.O_RDONLY);
        try {
          await handle.sync();
        } finally {
          await handle.close();
        }
      }
      seenAt.set(root, performance.now());
    },
    /**
     * Removes blocks that none of these lists has, unless they are so new that another process may be about to name them.
     * @param roots undefined where it is not known which lists are needed: nothing is removed then
     * @returns whether there may be any that are not needed
     */
    sweep: async (roots: readonly string[] | undefined): Promise<boolean> => {
      const names = await files.readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      const needed = new Set<string>();
      let isKnown = roots !== undefined;
      for (const root of seenAt.keys()) if (roots?.includes(root) === false) seenAt.delete(root);
      for (const root of names.length === 0 ? [] : (roots ?? [])) {
        needed.add(root);
        const content = await read(root, () => (isKnown = false));
        for (const hash of content === undefined ? [] : hashesOfRoot(Buffer.from(content)))
          needed.add(hash.toString('hex'));
      }
      let sum = 0;
      let areLeft = false;
      for (const name of names) {
        const file = path.join(folder, name);
        const { mtimeMs, size } = await files.stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
        const isOurs = blockName.test(name) || name.endsWith('.tmp');
        if (isKnown && isOurs && !needed.has(name) && Date.now() - mtimeMs >= keptForMs) {
          await files.unlink(file).catch(() => undefined);
          continue;
        }
        sum += size;
        areLeft ||= isOurs && !needed.has(name);
      }
      bytes = sum;
      return areLeft;
    },
  };
}
