import type { StateVersion } from '@bunting/contracts';
import { setTimeout } from 'node:timers/promises';
import type { Projection } from '@bunting/outbox';
import {
  type CurrentState,
  type StateEntity,
  type StoredState,
  type StoredStates,
  isUpToDate,
} from '../persistence/stored-states.ts';
import { commonRangeOf, differingGroups, differingIds } from './compare-versions.ts';
import type { StateSource } from './state-source.ts';

interface ReconcilerOptions {
  readonly source: StateSource;
  readonly stored: StoredStates;
  readonly states: Pick<Projection, 'catchUp'>;
}

/** The outcome of a reconciliation. */
export interface ReconciliationResult {
  /** whether the projection was too stale to be compared */
  readonly isBehind: boolean;
  /** groups whose digests were not the same */
  readonly different: number;
  /** ids of repaired features and segments */
  readonly repaired: readonly string[];
  /** how many contents were compared */
  readonly compared: number;
  /** up to which name; empty when the last was reached */
  readonly comparedUpTo: string;
}

const entities: readonly StateEntity[] = ['segment', 'feature'];
const catchUpTimeoutMs = 5_000;
const pageSize = 5_000;
/** How many states are read per call. */
const batchSize = 200;
/** How many states are repaired per run. The next run continues. */
const maxRepairs = 10_000;

/** The number of attempts of a reindex to catch up before it fails, and the pause between two of them. */
const maxAttempts = 12;
const attemptPauseMs = 1_000;

class BehindError extends Error {
  constructor() {
    super(`search has not applied the latest changes of features within ${catchUpTimeoutMs} ms`);
  }
}

const batchesOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / batchSize) }, (_, nth) =>
    items.slice(nth * batchSize, (nth + 1) * batchSize),
  );

/** Compares stored states with the features service and repairs those that have drifted. */
export const reconciler = ({ source, stored, states }: ReconcilerOptions) => {
  const requireCaughtUp = async (): Promise<void> => {
    if ((await states.catchUp(catchUpTimeoutMs)) > 0) throw new BehindError();
  };

  const findDifferingGroups = async (entity: StateEntity): Promise<string[]> => {
    const [expected, actual] = await Promise.all([source.digests(entity), stored.digests(entity)]);
    return differingGroups(expected, actual);
  };

  /** Reads the versions of a group in both services, in pages that cover the same ids; undefined: of all groups. */
  async function* pagesOfVersions(entity: StateEntity, group: string | undefined, size: number) {
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

  /** The ids of a group whose versions differ. */
  const findDiffering = async (entity: StateEntity, group: string, max: number): Promise<string[]> => {
    const found: string[] = [];
    if (max <= 0) return found;
    for await (const { expected, actual } of pagesOfVersions(entity, group, pageSize)) {
      found.push(...differingIds(expected, actual));
      if (found.length >= max) break;
    }
    return found.slice(0, max);
  };

  const byId = <T extends { readonly id: string }>(list: readonly T[]): Map<string, T> =>
    new Map(list.map((each) => [each.id, each]));

  /**
   * Compares states by id, repairs those that differ, and resolves with the ids repaired. The projection applies everything
   * up to the first read before stored states are read: an older stored state was lost; for a newer one the source is read a second time.
   */
  const repair = async (entity: StateEntity, ids: readonly string[], force: boolean): Promise<string[]> => {
    const first = await source.states(entity, ids);
    await requireCaughtUp();
    const seen = byId(await stored.read(entity, ids));
    const isNewer = ({ id, version }: CurrentState) => (seen.get(id)?.version ?? -1) > (version ?? -1);
    const again = first.filter(isNewer).map(({ id }) => id);
    const later = again.length === 0 ? new Map<string, CurrentState>() : byId(await source.states(entity, again));
    const repaired: string[] = [];
    for (const current of first.map((each) => later.get(each.id) ?? each)) {
      const has: StoredState | undefined = seen.get(current.id);
      const isSame = has?.version === current.version || (has?.isLive !== true && current.state === null);
      // The source has moved on since: the projection will deliver it.
      if (later.has(current.id) && (current.version ?? -1) > (has?.version ?? -1)) continue;
      const isRight = isSame && isUpToDate(entity, has, current);
      if (isRight && !(force && current.state !== null)) continue;
      await stored.replace(entity, current, has);
      if (!isRight) repaired.push(current.id);
    }
    return repaired;
  };

  /** The id after which the next run compares the names of segments. */
  let comparedSegments = '';

  return {
    /** Compares all versions, and the contents of some features after a name. */
    reconcile: async (after: string): Promise<ReconciliationResult> => {
      const repaired: string[] = [];
      let different = 0;
      try {
        await requireCaughtUp();
        for (const entity of entities) {
          for (const group of await findDifferingGroups(entity)) {
            different++;
            const found = await findDiffering(entity, group, maxRepairs - repaired.length);
            for (const ids of batchesOf(found)) repaired.push(...(await repair(entity, ids, false)));
          }
        }
        const segments = (await stored.versions('segment', undefined, comparedSegments, batchSize)).map(({ id }) => id);
        repaired.push(...(await repair('segment', segments, false)));
        comparedSegments = segments.length < batchSize ? '' : (segments.at(-1) ?? '');
        const next = (await stored.versions('feature', undefined, after, batchSize)).map(({ id }) => id);
        repaired.push(...(await repair('feature', next, false)));
        const comparedUpTo = next.length < batchSize ? '' : (next.at(-1) ?? '');
        return { isBehind: false, different, repaired, compared: next.length, comparedUpTo };
      } catch (error) {
        if (!(error instanceof BehindError)) throw error;
        return { isBehind: true, different, repaired, compared: 0, comparedUpTo: after };
      }
    },

    /** Rewrites all states in place, and removes those that the features service does not have. */
    rebuild: async (progress: (done: number, all: number) => Promise<void>): Promise<void> => {
      const digests = await Promise.all(entities.map((entity) => source.digests(entity)));
      const all = digests.flat().reduce((sum, { count }) => sum + count, 0);
      let done = 0;
      /** Rewrites a batch. It is retried while the projection is stale, since a large import takes longer than one attempt to catch up. */
      const rewrite = async (entity: StateEntity, ids: readonly string[]): Promise<void> => {
        for (let attempt = 1; ; attempt++) {
          try {
            return void (await repair(entity, ids, true));
          } catch (error) {
            if (!(error instanceof BehindError) || attempt === maxAttempts) throw error;
            await progress(Math.min(done, all), all);
            await setTimeout(attemptPauseMs);
          }
        }
      };
      for (const entity of entities) {
        for await (const { expected, actual } of pagesOfVersions(entity, undefined, batchSize)) {
          const ids = new Set([...expected, ...actual].map(({ id }) => id));
          for (const batch of batchesOf([...ids])) await rewrite(entity, batch);
          done += ids.size;
          await progress(Math.min(done, all), all);
        }
      }
    },
  };
};
