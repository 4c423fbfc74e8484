import { type DeliveryState, type ErrorKind, maxBlocksPerCall, type OutboxMessage, Refusal } from '@bunting/contracts';
import { bytesOfBlock, type IdBlock, type IdList, idList, readIdBlock } from '@bunting/evaluation';
import { decodeIdBlock, decodeRootBlock, type StoredBlock } from '@bunting/contracts/id-blocks';

/**
 * Reads blocks, at most `maxBlocksPerCall`, by their hashes. Those that are not there any more are missing in the result.
 * @throws where they cannot be read now
 */
export type FetchBlocks = (hashes: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;

interface LoadedList {
  readonly list: IdList;
  /** the hashes of its blocks */
  readonly blocks: readonly string[];
}

/** The refusals of a read that succeeds later. */
const isTemporary: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'ServiceUnavailable',
  'RequestTimeout',
  'RateLimitError',
]);

/** Thrown where a list cannot be known, however often it is read. */
class UnknownList extends Error {}

/**
 * The lists of segments in the memory of this process. Lists share their blocks, and a changed list reads only the blocks that it lacks. A
 * list that cannot be read holds nothing else up.
 * @param warn takes why a list is not known: its segment then matches nobody, and everything else is delivered
 */
export function segmentLists(fetchBlocks: FetchBlocks, warn: (message: string) => void) {
  const lists = new Map<string, LoadedList>();
  const blocks = new Map<string, IdBlock>();
  /** why a list is not known, by root */
  const faults = new Map<string, string>();
  /** the roots of current lists that are not known */
  let unknown: ReadonlySet<string> = new Set<string>();

  /** Blocks of which none is too much for a message alone. @throws UnknownList; where they cannot be read now */
  const fetch = async (hashes: readonly string[]): Promise<ReadonlyMap<string, Buffer>> => {
    try {
      return await fetchBlocks(hashes);
    } catch (error) {
      if (!(error instanceof Refusal) || isTemporary.has(error.kind)) throw error;
      if (hashes.length === 1) throw new UnknownList(error.message);
      const found = new Map<string, Buffer>();
      for (const hash of hashes) for (const [name, content] of await fetch([hash])) found.set(name, content);
      return found;
    }
  };

  const read = <T>(hash: string, content: Buffer | undefined, decode: (block: StoredBlock) => T): T => {
    if (content === undefined) throw new UnknownList(`A block of it is missing: ${hash}.`);
    try {
      return decode({ hash: Buffer.from(hash, 'hex'), content });
    } catch (error) {
      throw new UnknownList((error as Error).message);
    }
  };

  const load = async (root: string): Promise<void> => {
    const rootBlock = (await fetch([root])).get(root);
    const hashes = read(root, rootBlock, decodeRootBlock).map((hash) => hash.toString('hex'));
    const missing = [...new Set(hashes)].filter((hash) => !blocks.has(hash));
    for (let from = 0; from < missing.length; from += maxBlocksPerCall) {
      const wanted = missing.slice(from, from + maxBlocksPerCall);
      const fetched = await fetch(wanted);
      for (const hash of wanted) blocks.set(hash, readIdBlock(read(hash, fetched.get(hash), decodeIdBlock)));
    }
    lists.set(root, { list: idList(hashes.flatMap((hash) => blocks.get(hash) ?? [])), blocks: hashes });
  };

  const loadOrExplain = async (root: string): Promise<void> => {
    if (lists.has(root)) return;
    try {
      await load(root);
      faults.delete(root);
    } catch (error) {
      if (!(error instanceof UnknownList)) throw error;
      faults.set(root, error.message);
    }
  };

  return {
    find: (root: string): IdList | undefined => lists.get(root)?.list,
    /** Loads the lists to which the newest of these messages about each segment refer. @throws where they cannot be read now */
    loadFor: async (messages: readonly OutboxMessage[]): Promise<void> => {
      const roots = new Map<string, string | undefined>();
      for (const { payload } of messages) {
        const { entity, id, state } = payload as DeliveryState;
        if (entity === 'segment') roots.set(id, state?.list?.root);
      }
      for (const root of roots.values()) if (root !== undefined) await loadOrExplain(root);
    },
    /**
     * Drops all lists but these.
     * @param isComplete whether these are the current lists, not older ones that a later row replaces: it warns once of each that is not known
     */
    retain: (roots: ReadonlySet<string>, isComplete: boolean): void => {
      if (isComplete) {
        const before = unknown;
        unknown = new Set([...roots].filter((root) => !lists.has(root)));
        for (const root of unknown)
          if (!before.has(root))
            warn(
              `The list ${root} of a segment cannot be read, and the segment matches nobody until the list is uploaded again. ${faults.get(root) ?? ''}`,
            );
        for (const root of faults.keys()) if (!roots.has(root)) faults.delete(root);
      }
      if ([...lists.keys()].every((root) => roots.has(root))) return;
      const used = new Set<string>();
      for (const [root, list] of lists)
        if (!roots.has(root)) lists.delete(root);
        else for (const hash of list.blocks) used.add(hash);
      for (const hash of blocks.keys()) if (!used.has(hash)) blocks.delete(hash);
    },
    /** the number of current lists that are not known */
    get unknown(): number {
      return unknown.size;
    },
    /** the memory that all ids take, in bytes */
    get bytes(): number {
      let sum = 0;
      for (const block of blocks.values()) sum += bytesOfBlock(block);
      return sum;
    },
  };
}
export type SegmentLists = ReturnType<typeof segmentLists>;
