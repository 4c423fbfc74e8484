import type { ClientSegment } from '@bunting/contracts';
import { type FetchBlocks, idLists, type LoadedList, UnknownListError } from '@bunting/delivery';
import { Gauge, type Registry } from 'prom-client';
import { OriginError } from '../upstream/origin-error.ts';

export interface EdgeListsOptions {
  /** the most MiB that the ids of all lists take in memory */
  readonly maxMib: number;
  /** the roots of the lists in the states that are served */
  readonly rootsInUse: () => Iterable<string>;
  /** Gives up what is kept only for edges behind this one. */
  readonly dropFormerLists: () => void;
  /** takes which list is too large, once */
  readonly warn: (message: string) => void;
  readonly metrics: Registry;
}

/** The roots of the lists of segments. */
export function rootsOf(segments: readonly Pick<ClientSegment, 'list'>[]): readonly string[] {
  return segments.flatMap(({ list }) => list?.root ?? []);
}

/** For how long a list that was too large is not asked for again, in milliseconds, unless other lists have left the memory. */
const tooLargeForMs = 5 * 60_000;
/** What share of the limit must have become free until then: each attempt may move as much as the limit. */
const worthwhileShare = 1 / 16;

interface Claim {
  roots: ReadonlySet<string>;
  /** the roots of those that are too large, whose segments match nobody */
  closed: ReadonlySet<string>;
}

/** The lists of segments of an edge: in memory once, whatever tokens deliver them. */
export function edgeLists({ maxMib, rootsInUse, dropFormerLists, warn, metrics }: EdgeListsOptions) {
  const maxBytes = maxMib * 1024 * 1024;
  const lists = idLists({ maxBytes });
  const claims = new Set<Claim>();
  /** by root: until when a list is too large, and beside how many bytes of others it was */
  const tooLarge = new Map<string, { readonly until: number; readonly bytes: number }>();
  const closedRoots = (): ReadonlySet<string> => new Set([...claims].flatMap(({ closed }) => [...closed]));
  new Gauge({
    name: 'bunting_segment_list_bytes',
    help: 'The memory that the ids in lists of segments take in this process',
    registers: [metrics],
    collect() {
      this.set(lists.bytes);
    },
  });
  new Gauge({
    name: 'bunting_edge_segment_lists_too_large',
    help: 'The lists of segments that do not fit into UPSTREAM_MAX_LISTS_MIB: their segments match nobody behind this edge',
    registers: [metrics],
    collect() {
      this.set(closedRoots().size);
    },
  });
  /** Drops what no state needs that is served or is about to be. */
  const sweep = (): void => {
    const closed = closedRoots();
    for (const root of tooLarge.keys()) if (!closed.has(root)) tooLarge.delete(root);
    if (lists.isEmpty) return;
    lists.retain(new Set([...rootsInUse(), ...[...claims].flatMap(({ roots }) => [...roots])]));
  };
  const isKnownTooLarge = (root: string): boolean => {
    const known = tooLarge.get(root);
    return known !== undefined && lists.bytes > known.bytes - worthwhileShare * maxBytes && Date.now() < known.until;
  };
  /** Loads a list, if need be in the place of those that only edges behind this one may ask for. @throws UnknownListError */
  const loadInPlace = async (root: string, fetch: FetchBlocks): Promise<void> => {
    try {
      await lists.load(root, fetch);
    } catch (error) {
      if (!(error instanceof UnknownListError && error.isTooLarge)) throw error;
      const before = lists.bytes;
      dropFormerLists();
      sweep();
      if (lists.bytes === before) throw error;
      await lists.load(root, fetch);
    }
  };

  return {
    maxBytes,
    find: (root: string): LoadedList | undefined => lists.find(root),
    /** Loads a list, of a snapshot. @throws UnknownListError */
    load: lists.load,
    sweep,
    /** the number of lists that are too large, whose segments match nobody */
    get tooLarge(): number {
      return closedRoots().size;
    },
    /** what one follower of the origin needs, which stays in memory until it needs something else */
    claim: () => {
      const claim: Claim = { roots: new Set(), closed: new Set() };
      let isClosed = false;
      claims.add(claim);

      /** @returns whether the list is in memory; false where it is too large @throws OriginError */
      const loadOne = async (
        { id, list }: ClientSegment & { readonly list: NonNullable<ClientSegment['list']> },
        fetch: FetchBlocks,
      ): Promise<boolean> => {
        const { root, size } = list;
        try {
          if (isKnownTooLarge(root)) return false;
          await loadInPlace(root, fetch);
        } catch (error) {
          if (!(error instanceof UnknownListError)) throw error;
          if (!error.isTooLarge)
            throw new OriginError('failing', `the list of its segment ${id} cannot be read. ${error.message}`);
          const isNew = !tooLarge.has(root);
          claim.roots = new Set([...claim.roots].filter((other) => other !== root));
          claim.closed = new Set([...claim.closed, root]);
          sweep();
          tooLarge.set(root, { until: Date.now() + tooLargeForMs, bytes: lists.bytes });
          if (isNew)
            warn(
              `The list of the segment ${id} is too large for UPSTREAM_MAX_LISTS_MIB=${maxMib}, and the segment matches nobody behind this edge. ${error.message}`,
            );
          return false;
        }
        if (lists.find(root)?.size !== size)
          throw new OriginError('unusable', `the list of its segment ${id} does not have ${size} ids`);
        return true;
      };

      return {
        /** Whether the lists of segments are in memory, or too large. */
        has: (segments: Iterable<ClientSegment>): boolean =>
          [...segments].every(
            ({ list }) =>
              list === undefined || claim.closed.has(list.root) || lists.find(list.root)?.size === list.size,
          ),
        /**
         * Brings the lists of segments into memory. Blocks that have arrived stay there for the next attempt.
         * @returns the segments as they are to be served: one whose list is too large has none, and matches nobody
         * @throws OriginError where a block is missing, or the origin tells what cannot be
         */
        load: async (segments: readonly ClientSegment[], fetch: FetchBlocks): Promise<readonly ClientSegment[]> => {
          if (isClosed) return segments;
          const wanted = new Set(rootsOf(segments));
          claim.closed = new Set([...claim.closed].filter((root) => wanted.has(root)));
          claim.roots = wanted;
          const served: ClientSegment[] = [];
          for (const segment of segments) {
            const { list, ...withoutList } = segment;
            const isThere = list === undefined || (await loadOne({ ...segment, list }, fetch));
            if (list !== undefined) {
              const others = [...claim.closed].filter((root) => root !== list.root);
              claim.closed = new Set(isThere ? others : [...others, list.root]);
            }
            served.push(isThere ? segment : withoutList);
          }
          return served;
        },
        /** the roots of the lists that are too large */
        closed: (): string => [...claim.closed].toSorted().join(),
        /** Whether a list that was too large may fit now that the lists before are served no longer. */
        mayFit: (): boolean => {
          if (claim.closed.size === 0) return false;
          dropFormerLists();
          sweep();
          return [...claim.closed].some((root) => !isKnownTooLarge(root));
        },
        close: (): void => {
          isClosed = true;
          claims.delete(claim);
        },
      };
    },
  };
}
export type EdgeLists = ReturnType<typeof edgeLists>;
export type ListClaim = ReturnType<EdgeLists['claim']>;
