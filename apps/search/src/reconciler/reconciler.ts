import type { ReadableStateEntity, StateVersion } from '@bunting/contracts';
import { setTimeout } from 'node:timers/promises';
import { commonRangeOf, differingGroups, differingIds } from './compare-versions.ts';
import { StaleProjectionError, repairStates, requireCaughtUp, type StateStores } from './repair-states.ts';

/** The outcome of a reconciliation. */
export interface ReconciliationResult {
  /** whether the projection was too stale to be compared */
  readonly isBehind: boolean;
  /** the number of groups whose digests differed */
  readonly differentGroups: number;
  /** ids of repaired features and segments */
  readonly repaired: readonly string[];
  /** the number of features whose contents were compared */
  readonly compared: number;
  /** the name of the last of these features; empty if they included the last feature of all */
  readonly comparedUpTo: string;
}

const entities: readonly ReadableStateEntity[] = ['segment', 'feature'];
const pageSize = 5_000;
/** The number of states that are read per call. */
const batchSize = 200;
/** The maximum number of states that are repaired per run. The next run continues. */
const maxRepairs = 10_000;

/** The number of attempts of a reindex to catch up before it fails, and the pause between two of them. */
const maxAttempts = 12;
const attemptPauseMs = 1_000;

const batchesOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / batchSize) }, (_, nth) =>
    items.slice(nth * batchSize, (nth + 1) * batchSize),
  );

/** Reads the versions of a group in both services, in pages that cover the same ids. @param group undefined for all groups */
async function* pagesOfVersions(
  { source, stored }: StateStores,
  entity: ReadableStateEntity,
  group: string | undefined,
  size: number,
) {
  for (let after: string | undefined = ''; after !== undefined;) {
    const [expected, actual]: [readonly StateVersion[], readonly StateVersion[]] = await Promise.all([
      source.versions(entity, group, after, size),
      stored.versions(entity, group, after, size),
    ]);
    const range = commonRangeOf(expected, actual, size);
    yield range;
    after = range.end;
  }
}

/** The ids of the states of a group whose versions differ, at most `max`. */
const findDiffering = async (
  stores: StateStores,
  entity: ReadableStateEntity,
  group: string,
  max: number,
): Promise<string[]> => {
  const ids: string[] = [];
  if (max <= 0) return ids;
  for await (const { expected, actual } of pagesOfVersions(stores, entity, group, pageSize)) {
    ids.push(...differingIds(expected, actual));
    if (ids.length >= max) break;
  }
  return ids.slice(0, max);
};

/** Rewrites a batch. It is retried while the projection is stale, since a large import takes longer than one attempt to catch up. */
const rewrite = async (
  stores: StateStores,
  entity: ReadableStateEntity,
  ids: readonly string[],
  heartbeat: () => Promise<void>,
): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await repairStates(stores, entity, ids, { force: true }));
    } catch (error) {
      if (!(error instanceof StaleProjectionError) || attempt === maxAttempts) throw error;
      await heartbeat();
      await setTimeout(attemptPauseMs);
    }
  }
};

/** Compares stored states with the features service and repairs those that have drifted. */
export const reconciler = (stores: StateStores) => {
  const { source, stored } = stores;
  /** The id after which the next run compares the names of segments. */
  let comparedSegments = '';

  /** Compares the contents of the next states after an id, and adds the ids of those that it repairs. */
  const repairNext = async (entity: ReadableStateEntity, after: string, repaired: string[]) => {
    const ids = (await stored.versions(entity, undefined, after, batchSize)).map(({ id }) => id);
    repaired.push(...(await repairStates(stores, entity, ids, { force: false })));
    return { compared: ids.length, comparedUpTo: ids.length < batchSize ? '' : (ids.at(-1) ?? '') };
  };

  return {
    /** Compares all versions, and the contents of some features after a name. */
    reconcile: async (after: string): Promise<ReconciliationResult> => {
      const repaired: string[] = [];
      let differentGroups = 0;
      try {
        await requireCaughtUp(stores);
        for (const entity of entities) {
          const [expected, actual] = await Promise.all([source.digests(entity), stored.digests(entity)]);
          for (const group of differingGroups(expected, actual)) {
            differentGroups++;
            const differing = await findDiffering(stores, entity, group, maxRepairs - repaired.length);
            for (const ids of batchesOf(differing))
              repaired.push(...(await repairStates(stores, entity, ids, { force: false })));
          }
        }
        ({ comparedUpTo: comparedSegments } = await repairNext('segment', comparedSegments, repaired));
        return { isBehind: false, differentGroups, repaired, ...(await repairNext('feature', after, repaired)) };
      } catch (error) {
        if (!(error instanceof StaleProjectionError)) throw error;
        return { isBehind: true, differentGroups, repaired, compared: 0, comparedUpTo: after };
      }
    },

    /** Rewrites all states in place, and removes those that the features service does not have. */
    rebuild: async (progress: (done: number, all: number) => Promise<void>): Promise<void> => {
      const digests = await Promise.all(entities.map((entity) => source.digests(entity)));
      const all = digests.flat().reduce((sum, { count }) => sum + count, 0);
      let done = 0;
      const reportProgress = () => progress(Math.min(done, all), all);
      for (const entity of entities) {
        for await (const { expected, actual } of pagesOfVersions(stores, entity, undefined, batchSize)) {
          const ids = new Set([...expected, ...actual].map(({ id }) => id));
          for (const batch of batchesOf([...ids])) await rewrite(stores, entity, batch, reportProgress);
          done += ids.size;
          await reportProgress();
        }
      }
    },
  };
};
