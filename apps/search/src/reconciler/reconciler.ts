import type { StateVersion } from '@bunting/contracts';
import type { Projection } from '@bunting/outbox';
import {
  type CurrentState,
  type KeptEntity,
  type KeptState,
  type KeptStates,
  saysTheSame,
} from '../persistence/stored-states.ts';
import type { StateSource } from './state-source.ts';

export interface ReconcileNeeds {
  readonly source: StateSource;
  readonly kept: KeptStates;
  readonly states: Pick<Projection, 'catchUp'>;
}

/** What came of a comparison. */
export interface Reconciled {
  /** whether the documents were too far behind to be compared */
  readonly isBehind: boolean;
  /** groups whose digests were not the same */
  readonly different: number;
  /** features and segments that were put right */
  readonly repaired: readonly string[];
  /** how many contents were compared */
  readonly compared: number;
  /** up to which name; empty when the last was reached */
  readonly comparedUpTo: string;
}

const entities: readonly KeptEntity[] = ['segment', 'feature'];
const patienceMs = 5_000;
const pageSize = 5_000;
/** How many are read at once. */
const atOnce = 200;
/** How many are put right in one go: what is left is found again the next time. */
const mostRepaired = 10_000;

class Behind extends Error {}

const inBatches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / atOnce) }, (_, nth) => items.slice(nth * atOnce, (nth + 1) * atOnce));

/** The ids that only one side has, or that the sides have in different versions. */
const differing = (one: readonly StateVersion[], other: readonly StateVersion[]): string[] => {
  const versions = new Map(one.map(({ id, version }) => [id, version]));
  const changed = other.filter(({ id, version }) => versions.get(id) !== version).map(({ id }) => id);
  for (const { id } of other) versions.delete(id);
  return [...changed, ...versions.keys()];
};

const inOrder = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Compares what is kept with what there is, and puts right what differs. */
export const reconciler = ({ source, kept, states }: ReconcileNeeds) => {
  const requireCaughtUp = async (): Promise<void> => {
    if ((await states.catchUp(patienceMs)) > 0) throw new Behind();
  };

  const differentGroups = async (entity: KeptEntity): Promise<string[]> => {
    const sum = ({ count, digest }: { count: number; digest: string }) => `${count} ${digest}`;
    const sides = await Promise.all([source.digests(entity), kept.digests(entity)]);
    const [theirs, ours] = sides.map(
      (groups) => new Map(groups.filter(({ count }) => count > 0).map((each) => [each.group, sum(each)])),
    ) as [Map<string, string>, Map<string, string>];
    return [...new Set([...theirs.keys(), ...ours.keys()])].filter((group) => theirs.get(group) !== ours.get(group));
  };

  /** The ids of a group whose versions differ; undefined: of all groups. */
  const suspects = async (entity: KeptEntity, group: string | undefined, atMost: number): Promise<string[]> => {
    const found: string[] = [];
    for (let after = ''; found.length < atMost;) {
      const [theirs, ours] = await Promise.all([
        source.versions(entity, group, after, pageSize),
        kept.versions(entity, group, after, pageSize),
      ]);
      // A page ends where the first of the two ends that is not the last one of its side.
      const ends = [theirs, ours].flatMap((page) => (page.length < pageSize ? [] : [page.at(-1)?.id ?? '']));
      const [end] = ends.toSorted(inOrder);
      const within = (page: readonly StateVersion[]) =>
        end === undefined ? page : page.filter(({ id }) => inOrder(id, end) <= 0);
      found.push(...differing(within(theirs), within(ours)));
      if (end === undefined) break;
      after = end;
    }
    return found.slice(0, atMost);
  };

  const byId = <T extends { readonly id: string }>(list: readonly T[]): Map<string, T> =>
    new Map(list.map((each) => [each.id, each]));

  /**
   * Holds some to what there is, and answers those that had to be put right. What is read first is applied before what is kept
   * is read: what is older then was lost, and what is newer is read again before it counts as wrong.
   */
  const putRight = async (entity: KeptEntity, ids: readonly string[], force: boolean): Promise<string[]> => {
    const first = await source.states(entity, ids);
    await requireCaughtUp();
    const seen = byId(await kept.read(entity, ids));
    const isNewer = ({ id, version }: CurrentState) => (seen.get(id)?.version ?? -1) > (version ?? -1);
    const again = first.filter(isNewer).map(({ id }) => id);
    const later = again.length === 0 ? new Map<string, CurrentState>() : byId(await source.states(entity, again));
    const repaired: string[] = [];
    for (const current of first.map((each) => later.get(each.id) ?? each)) {
      const has: KeptState | undefined = seen.get(current.id);
      const isSame = has?.version === current.version || (has?.isLive !== true && current.state === null);
      // Meanwhile it has become newer than what was seen: it is on its way.
      if (later.has(current.id) && (current.version ?? -1) > (has?.version ?? -1)) continue;
      const isRight = isSame && saysTheSame(entity, has, current);
      if (isRight && !(force && current.state !== null)) continue;
      await kept.replace(entity, current, has);
      if (!isRight) repaired.push(current.id);
    }
    return repaired;
  };

  /** Names of segments are compared in turn as well. */
  let comparedSegments = '';

  return {
    /** Compares all versions, and the contents of some features after a name. */
    reconcile: async (after: string): Promise<Reconciled> => {
      const repaired: string[] = [];
      let different = 0;
      try {
        await requireCaughtUp();
        for (const entity of entities) {
          for (const group of await differentGroups(entity)) {
            different++;
            const found = await suspects(entity, group, mostRepaired - repaired.length);
            for (const ids of inBatches(found)) repaired.push(...(await putRight(entity, ids, false)));
          }
        }
        const segments = (await kept.versions('segment', undefined, comparedSegments, atOnce)).map(({ id }) => id);
        repaired.push(...(await putRight('segment', segments, false)));
        comparedSegments = segments.length < atOnce ? '' : (segments.at(-1) ?? '');
        const next = (await kept.versions('feature', undefined, after, atOnce)).map(({ id }) => id);
        repaired.push(...(await putRight('feature', next, false)));
        const comparedUpTo = next.length < atOnce ? '' : (next.at(-1) ?? '');
        return { isBehind: false, different, repaired, compared: next.length, comparedUpTo };
      } catch (error) {
        if (!(error instanceof Behind)) throw error;
        return { isBehind: true, different, repaired, compared: 0, comparedUpTo: after };
      }
    },

    /** Writes everything anew, in place, and removes what there is none of. */
    rebuild: async (progress: (done: number, all: number) => Promise<void>): Promise<void> => {
      const digests = await Promise.all(entities.map((entity) => source.digests(entity)));
      const all = digests.flat().reduce((sum, { count }) => sum + count, 0);
      let done = 0;
      for (const entity of entities) {
        for (let after = ''; ;) {
          const [theirs, ours] = await Promise.all([
            source.versions(entity, undefined, after, atOnce),
            kept.versions(entity, undefined, after, atOnce),
          ]);
          const ends = [theirs, ours].flatMap((page) => (page.length < atOnce ? [] : [page.at(-1)?.id ?? '']));
          const [end] = ends.toSorted(inOrder);
          const ids = new Set(
            [...theirs, ...ours].map(({ id }) => id).filter((id) => end === undefined || inOrder(id, end) <= 0),
          );
          for (const batch of inBatches([...ids])) await putRight(entity, batch, true);
          done += ids.size;
          await progress(Math.min(done, all), all);
          if (end === undefined) break;
          after = end;
        }
      }
    },
  };
};
