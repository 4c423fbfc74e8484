import { type DeliveryState, maxBlocksPerCall, type OutboxMessage } from '@bunting/contracts';
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

/**
 * The lists of segments in the memory of this process. Lists share their blocks, and a changed list reads only the blocks that it lacks.
 * @param warn takes why a list is not known: its segment then matches nobody, and everything else is delivered
 */
export function segmentLists(fetchBlocks: FetchBlocks, warn: (message: string) => void) {
  const lists = new Map<string, LoadedList>();
  const blocks = new Map<string, IdBlock>();

  /** What a block says; undefined for one whose content is not that of its hash. */
  const readable = <T>(hash: string, content: Buffer, decode: (block: StoredBlock) => T): T | undefined => {
    try {
      return decode({ hash: Buffer.from(hash, 'hex'), content });
    } catch (error) {
      warn(`${(error as Error).message} The segment that has it matches nobody until its list is uploaded again.`);
      return undefined;
    }
  };

  const load = async (root: string): Promise<void> => {
    if (lists.has(root)) return;
    const content = (await fetchBlocks([root])).get(root);
    // A list that was replaced more than a day ago: a later row has the one that replaced it.
    if (content === undefined) return;
    const hashes = readable(root, content, decodeRootBlock)?.map((hash) => hash.toString('hex'));
    if (hashes === undefined) return;
    const missing = [...new Set(hashes)].filter((hash) => !blocks.has(hash));
    for (let from = 0; from < missing.length; from += maxBlocksPerCall) {
      const fetched = await fetchBlocks(missing.slice(from, from + maxBlocksPerCall));
      for (const [hash, block] of fetched) {
        const text = readable(hash, block, decodeIdBlock);
        if (text !== undefined) blocks.set(hash, readIdBlock(text));
      }
    }
    const found = hashes.flatMap((hash) => blocks.get(hash) ?? []);
    if (found.length === hashes.length) lists.set(root, { list: idList(found), blocks: hashes });
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
      for (const root of roots.values()) if (root !== undefined) await load(root);
    },
    /** Drops all lists but these. */
    retain: (roots: ReadonlySet<string>): void => {
      if ([...lists.keys()].every((root) => roots.has(root))) return;
      const used = new Set<string>();
      for (const [root, list] of lists)
        if (!roots.has(root)) lists.delete(root);
        else for (const hash of list.blocks) used.add(hash);
      for (const hash of blocks.keys()) if (!used.has(hash)) blocks.delete(hash);
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
