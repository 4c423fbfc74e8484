import type { ClientSegment } from '@bunting/contracts';
import { type FetchBlocks, idLists, type LoadedList, UnknownListError } from '@bunting/delivery';
import { Gauge, type Registry } from 'prom-client';
import { OriginError } from '../upstream/origin-error.ts';

export interface EdgeListsOptions {
  /** the most MiB that the ids of all lists take in memory */
  readonly maxMib: number;
  /** the roots of the lists in the states that are served */
  readonly rootsInUse: () => Iterable<string>;
  readonly metrics: Registry;
}

/** The roots of the lists of segments. */
export function rootsOf(segments: readonly Pick<ClientSegment, 'list'>[]): readonly string[] {
  return segments.flatMap(({ list }) => list?.root ?? []);
}

/** The lists of segments of an edge: in memory once, whatever tokens deliver them. */
export function edgeLists({ maxMib, rootsInUse, metrics }: EdgeListsOptions) {
  const lists = idLists({ maxBytes: maxMib * 1024 * 1024 });
  const claims = new Set<ReadonlySet<string>>();
  new Gauge({
    name: 'bunting_segment_list_bytes',
    help: 'The memory that the ids in lists of segments take in this process',
    registers: [metrics],
    collect() {
      this.set(lists.bytes);
    },
  });
  /** Drops what no state needs that is served or is about to be. */
  const sweep = (): void => {
    if (lists.isEmpty) return;
    lists.retain(new Set([...rootsInUse(), ...[...claims].flatMap((roots) => [...roots])]));
  };

  return {
    maxBytes: maxMib * 1024 * 1024,
    find: (root: string): LoadedList | undefined => lists.find(root),
    /** Loads a list, of a snapshot. @throws UnknownListError */
    load: lists.load,
    sweep,
    /** what one follower of the origin needs, which stays in memory until it needs something else */
    claim: () => {
      let claimed: ReadonlySet<string> = new Set();
      const change = (roots: ReadonlySet<string>): void => {
        claims.delete(claimed);
        claims.add(roots);
        claimed = roots;
      };
      return {
        /** Whether the lists of segments are in memory. */
        has: (segments: Iterable<ClientSegment>): boolean =>
          [...segments].every(({ list }) => list === undefined || lists.find(list.root)?.size === list.size),
        /**
         * Brings the lists of segments into memory. Blocks that have arrived stay there for the next attempt.
         * @throws OriginError where a block is missing, or the origin tells what cannot be
         */
        load: async (segments: readonly ClientSegment[], fetch: FetchBlocks): Promise<void> => {
          change(new Set(rootsOf(segments)));
          for (const { id, list } of segments) {
            if (list === undefined) continue;
            try {
              await lists.load(list.root, fetch);
            } catch (error) {
              if (!(error instanceof UnknownListError)) throw error;
              if (!error.isTooLarge)
                throw new OriginError('failing', `the list of its segment ${id} cannot be read. ${error.message}`);
              change(new Set());
              sweep();
              throw new OriginError(
                'unusable',
                `the list of its segment ${id} is too large for UPSTREAM_MAX_LISTS_MIB=${maxMib}. ${error.message}`,
              );
            }
            if (lists.find(list.root)?.size !== list.size)
              throw new OriginError('unusable', `the list of its segment ${id} does not have ${list.size} ids`);
          }
        },
        close: (): void => void claims.delete(claimed),
      };
    },
  };
}
export type EdgeLists = ReturnType<typeof edgeLists>;
export type ListClaim = ReturnType<EdgeLists['claim']>;
