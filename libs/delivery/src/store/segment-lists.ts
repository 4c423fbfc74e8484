import { type DeliveryState, type ErrorKind, type OutboxMessage, Refusal } from '@bunting/contracts';
import { type FetchBlocks, idLists, type LoadedList, UnknownListError } from './id-lists.ts';

/** The refusals of a read that succeeds later. */
const isTemporary: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'ServiceUnavailable',
  'RequestTimeout',
  'RateLimitError',
]);

/**
 * The lists of segments in the memory of a gateway. A list that cannot be read holds nothing else up.
 * @param warn takes why a list is not known: its segment then matches nobody, and everything else is delivered
 */
export function segmentLists(fetchBlocks: FetchBlocks, warn: (message: string) => void) {
  const lists = idLists();
  /** why a list is not known, by root */
  const faults = new Map<string, string>();
  /** the roots of current lists that are not known */
  let unknown: ReadonlySet<string> = new Set<string>();

  /** Blocks of which none is too much for a message alone. @throws UnknownListError; where they cannot be read now */
  const fetch: FetchBlocks = async (hashes, kind) => {
    try {
      return await fetchBlocks(hashes, kind);
    } catch (error) {
      if (!(error instanceof Refusal) || isTemporary.has(error.kind)) throw error;
      if (hashes.length === 1) throw new UnknownListError(error.message);
      const found = new Map<string, Uint8Array>();
      for (const hash of hashes) for (const [name, content] of await fetch([hash], kind)) found.set(name, content);
      return found;
    }
  };

  const loadOrExplain = async (root: string): Promise<void> => {
    try {
      await lists.load(root, fetch);
      faults.delete(root);
    } catch (error) {
      if (!(error instanceof UnknownListError)) throw error;
      faults.set(root, error.message);
    }
  };

  return {
    find: (root: string): LoadedList | undefined => lists.find(root),
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
        unknown = new Set([...roots].filter((root) => lists.find(root) === undefined));
        for (const root of unknown)
          if (!before.has(root))
            warn(
              `The list ${root} of a segment cannot be read, and the segment matches nobody until the list is uploaded again. ${faults.get(root) ?? ''}`,
            );
        for (const root of faults.keys()) if (!roots.has(root)) faults.delete(root);
      }
      lists.retain(roots);
    },
    /** the number of current lists that are not known */
    get unknown(): number {
      return unknown.size;
    },
    /** the memory that all ids take, in bytes */
    get bytes(): number {
      return lists.bytes;
    },
  };
}
export type SegmentLists = ReturnType<typeof segmentLists>;
