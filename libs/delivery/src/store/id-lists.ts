import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxBlocksPerCall, maxSegmentListBytes } from '@bunting/contracts';
import { hashBytes, hashesOfRoot, hashOfBlock } from '@bunting/contracts/id-blocks';
import { bytesOfBlock, type IdBlock, type IdList, idList, readIdBlock } from '@bunting/evaluation';

/**
 * Reads what blocks say, at most `maxBlocksPerCall`, by their hashes: of the kind `ids` the ids in UTF-8, each followed by a line break, of the
 * kind `root` the hashes of the blocks of a list. Those that are not there are missing in the result. What is there need not be checked.
 * @throws where they cannot be read now
 */
export type FetchBlocks = (hashes: readonly string[], kind: 'root' | 'ids') => Promise<ReadonlyMap<string, Uint8Array>>;

/** A list with the blocks that it is made of. */
export interface LoadedList extends IdList {
  readonly hashes: readonly string[];
  /** in the order of the hashes */
  readonly blocks: readonly IdBlock[];
}

/** A list is not known: blocks of it are missing, are others than their hashes say, or take too much memory. */
export class UnknownListError extends Error {
  readonly isTooLarge: boolean;
  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

/** Far more than lists are divided into: what has more is none. */
const maxBlocks = 8_192;
/** The blocks of which hash tables are made before other work has its turn: some milliseconds. */
const blocksPerTurn = 4;
/** What a list takes for each hash of its blocks, and a block beside its ids, in bytes: estimates. */
const bytesPerHash = 100;
const bytesPerBlock = 300;

/** @throws UnknownListError */
function verified(hash: string, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new UnknownListError(`A block of it is missing: ${hash}.`);
  if (hashOfBlock(bytes).toString('hex') !== hash)
    throw new UnknownListError(`A block of it differs from its hash ${hash}.`);
  return bytes;
}

/** The hashes of the blocks of a list. @throws UnknownListError */
function blocksInRoot(root: string, bytes: Uint8Array | undefined): readonly string[] {
  const content = verified(root, bytes);
  const count = content.length / hashBytes;
  if (!Number.isInteger(Math.log2(count)) || count > maxBlocks)
    throw new UnknownListError(`The block ${root} names no list.`);
  return hashesOfRoot(Buffer.from(content.buffer, content.byteOffset, content.byteLength)).map((hash) =>
    hash.toString('hex'),
  );
}

/**
 * Lists of ids in the memory of this process, which share their blocks: a changed list reads only the blocks that it lacks.
 * @param maxBytes the most memory that all ids may take
 */
export function idLists({ maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number } = {}) {
  const lists = new Map<string, LoadedList>();
  const blocks = new Map<string, IdBlock>();
  /** by root: the blocks of lists that are not complete yet; those that are there are kept for the next attempt */
  const begun = new Map<string, readonly string[]>();
  const loading = new Map<string, Promise<void>>();
  let bytes = 0;

  const take = (size: number): void => {
    if (bytes + size > maxBytes)
      throw new UnknownListError(`All lists take more than ${maxBytes} bytes.`, { isTooLarge: true });
    bytes += size;
  };
  const add = (hash: string, block: IdBlock): void => {
    if (blocks.has(hash)) return;
    take(bytesOfBlock(block) + bytesPerBlock);
    blocks.set(hash, block);
  };
  const begin = (root: string, hashes: readonly string[]): void => {
    if (begun.has(root)) return;
    take(hashes.length * bytesPerHash);
    begun.set(root, hashes);
  };

  const read = async (root: string, fetch: FetchBlocks): Promise<void> => {
    const hashes = blocksInRoot(root, (await fetch([root], 'root')).get(root));
    begin(root, hashes);
    const held = new Map<string, IdBlock>();
    for (const hash of hashes) {
      const block = blocks.get(hash);
      if (block !== undefined) held.set(hash, block);
    }
    const missing = [...new Set(hashes)].filter((hash) => !held.has(hash));
    let length = 0;
    for (const { text } of held.values()) length += text.length;
    for (let from = 0; from < missing.length; from += maxBlocksPerCall) {
      const wanted = missing.slice(from, from + maxBlocksPerCall);
      const fetched = await fetch(wanted, 'ids');
      for (const [nth, hash] of wanted.entries()) {
        const text = verified(hash, fetched.get(hash));
        length += text.length;
        if (length > maxSegmentListBytes)
          throw new UnknownListError(`Its ids are more than ${maxSegmentListBytes} bytes.`, { isTooLarge: true });
        const block = readIdBlock(text);
        add(hash, block);
        held.set(hash, block);
        if (nth % blocksPerTurn === blocksPerTurn - 1) await nextTurn();
      }
    }
    // Those that were dropped meanwhile, because nothing needed them, are needed now.
    begin(root, hashes);
    for (const [hash, block] of held) add(hash, block);
    const ordered = hashes.map((hash) => held.get(hash) as IdBlock);
    lists.set(root, { ...idList(ordered), hashes, blocks: ordered });
    begun.delete(root);
  };

  return {
    find: (root: string): LoadedList | undefined => lists.get(root),
    /** Loads a list unless it is there. @throws UnknownListError; what `fetch` throws */
    load: async (root: string, fetch: FetchBlocks): Promise<void> => {
      if (lists.has(root)) return;
      // Of two callers at the same time, the second one waits for the first, and reads itself what the first could not.
      while (loading.has(root)) await loading.get(root)?.catch(() => undefined);
      if (lists.has(root)) return;
      const reading = read(root, fetch);
      loading.set(root, reading);
      try {
        await reading;
      } finally {
        loading.delete(root);
      }
    },
    /** Drops all lists but these, and blocks that neither they nor incomplete ones of these have. */
    retain: (roots: ReadonlySet<string>): void => {
      let isUnneeded = false;
      const drop = (root: string, known: Map<string, unknown>, hashes: readonly string[]): void => {
        if (roots.has(root)) return;
        known.delete(root);
        bytes -= hashes.length * bytesPerHash;
        isUnneeded = true;
      };
      for (const [root, { hashes }] of lists) drop(root, lists, hashes);
      for (const [root, hashes] of begun) drop(root, begun, hashes);
      if (!isUnneeded) return;
      const used = new Set<string>([...lists.values()].flatMap(({ hashes }) => hashes).concat(...begun.values()));
      for (const [hash, block] of blocks)
        if (!used.has(hash)) {
          blocks.delete(hash);
          bytes -= bytesOfBlock(block) + bytesPerBlock;
        }
    },
    /** whether there are any */
    get isEmpty(): boolean {
      return lists.size + begun.size === 0;
    },
    /** the memory that all lists take, in bytes */
    get bytes(): number {
      return bytes;
    },
  };
}
export type IdLists = ReturnType<typeof idLists>;
