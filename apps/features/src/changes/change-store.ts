import type { AppliedChanges } from '@bunting/contracts';
import { type Database, prepared, type Tx } from '@bunting/database';
import type { Feature } from '../features/feature.ts';
import type { Referrer } from '../names.ts';
import {
  type ConstraintSettings,
  type PossibleReferences,
  type ProjectContextJson,
  projectContextJson,
  projectContextOf,
} from '../projects/project-context-store.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { AppliedChangeRequestEntity, featureJson, sql, storedSegmentJson } from '../unit-of-work/entities.ts';
import { activeChildrenOfAll, isActive } from '../unit-of-work/feature-sql.ts';
import { selectProtectedEnvironments } from '../unit-of-work/protection.ts';
import { defaultStrategiesWithSegment, insertIfAbsent, jsonListOf } from '../unit-of-work/sql.ts';
import type { ChangeContext, StagedList } from './change-context.ts';

/** The project and objects to read for changes: those that they edit, and those that their handlers read besides. */
export interface ChangeContextQuery extends PossibleReferences {
  readonly project: string;
  /** names of features that change, and of their future parents */
  readonly features: readonly string[];
  /** ids of the segments that change */
  readonly segments: readonly number[];
  /** new names of segments */
  readonly segmentNames: readonly string[];
  /** roots of staged lists */
  readonly stagedLists: readonly string[];
}

/** The stored objects that changes refer to. */
export type StoredChangeContext = Omit<ChangeContext, 'environment' | 'now' | 'generateStrategyId'>;

interface StoredContextJson {
  readonly projectContext: ProjectContextJson;
  readonly protectedEnvironments: readonly string[];
  readonly features: readonly Feature[];
  readonly children: readonly { readonly parent: string; readonly name: string }[];
  readonly segments: readonly StoredSegment[];
  readonly segmentReferrers: readonly (Referrer & { readonly segment: number })[];
  readonly segmentsByName: readonly { readonly id: number; readonly name: string }[];
  readonly stagedLists: readonly StagedList[];
}

/** `$1` project, `$2` texts, `$3` numbers, `$4` names of features, `$5` ids of segments, `$6` names of segments, `$7` roots of staged lists. */
const storedContext = prepared(`
  with found as (select * from feature f where f.name = any ($4::text[]))
  select json_build_object(
    'projectContext', ${projectContextJson(
      `$2::text[] || coalesce((select array_agg(context) from found, unnest(context_names) as context), '{}')`,
      `$3::integer[] || coalesce((select array_agg(used) from found, unnest(segment_ids) as used), '{}')`,
    )},
    'protectedEnvironments', array_to_json(array(${selectProtectedEnvironments('p.id')} order by environment)),
    'features', ${jsonListOf(`select ${featureJson('f')} from found f`)},
    'children', ${jsonListOf(`
      select json_build_object('parent', parent, 'name', child.name) from ${activeChildrenOfAll('$4::text[]')}`)},
    'segments', ${jsonListOf(`
      select ${storedSegmentJson('segment')} from segment where id = any ($5::integer[])`)},
    'segmentReferrers', ${jsonListOf(`
      select json_build_object('segment', id, 'name', f.name, 'project', f.project) from feature f, unnest(f.segment_ids) as id
      where f.segment_ids && $5::integer[] and f.segment_ids <> '{}' and ${isActive('f')}
        and id = any ($5::integer[])
      union all
      select json_build_object('segment', id, 'name', used.name, 'project', used.project)
      from unnest($5::integer[]) as id cross join lateral (${defaultStrategiesWithSegment('id')}) as used`)},
    'segmentsByName', ${jsonListOf(`
      select json_build_object('id', id, 'name', name) from segment where name = any ($6::text[])`)},
    'stagedLists', ${jsonListOf(`
      select json_build_object('segment', staged.segment, 'contextName', context_name, 'root', encode(root, 'hex'), 'size', size,
        'bytes', bytes, 'added', added, 'removed', removed, 'replaced', replaced, 'nextVersion', segment.version + 1)
      from staged_segment_list staged join segment on segment.id = staged.segment
      where staged.segment = any ($5::integer[]) and encode(root, 'hex') = any ($7::text[])`)}
  ) as context
  from project p where p.id = $1 and p.archived_at is null`);

function groupValues<Item, Key, Value>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
  valueOf: (item: Item) => Value,
): Map<Key, Value[]> {
  const groups = Map.groupBy(items, keyOf);
  return new Map([...groups].map(([key, members]) => [key, members.map(valueOf)]));
}

/**
 * Reads in one statement what changes refer to; undefined for a project that does not exist or is archived. Objects of the other
 * projects in `hidden` are left out.
 */
export function changeContextReader(database: Pick<Database, 'read'>, settings: ConstraintSettings) {
  return async (
    { project, texts, numbers, features, segments, segmentNames, stagedLists }: ChangeContextQuery,
    hidden: readonly string[],
  ): Promise<StoredChangeContext | undefined> => {
    const values = [project, texts, numbers, features, segments, segmentNames, stagedLists];
    const [row] = await database.read<{ context: StoredContextJson }>(storedContext, values);
    if (row === undefined) return undefined;
    const stored = row.context;
    // Approved changes are applied even if their author may not see the project any more.
    const hiddenOthers = hidden.filter((other) => other !== project);
    const isVisible = (item: { readonly project: string | null }): boolean =>
      item.project === null || !hiddenOthers.includes(item.project);
    return {
      project,
      projectContext: projectContextOf(stored.projectContext, hiddenOthers, settings),
      protectedEnvironments: stored.protectedEnvironments,
      features: new Map(stored.features.filter(isVisible).map((feature) => [feature.name, feature])),
      children: groupValues(
        stored.children,
        ({ parent }) => parent,
        ({ name }) => name,
      ),
      segments: new Map(stored.segments.filter(isVisible).map((segment) => [segment.id, segment])),
      segmentReferrers: groupValues(
        stored.segmentReferrers,
        ({ segment }) => segment,
        ({ name, project: projectOfFeature }) => ({ name, project: projectOfFeature }),
      ),
      segmentsByName: new Map(stored.segmentsByName.map(({ id, name }) => [name, id])),
      stagedLists: stored.stagedLists,
    };
  };
}

/** By what one attempt to apply a change request is recognised when it is repeated. */
export interface AttemptIdentity {
  readonly id: number;
  /** null for a change request that was created before change requests had uids */
  readonly uid: string | null;
  readonly attempt: number;
  /** a hash of the changes and of where they are applied */
  readonly content: string;
}

/** The last attempt that was stored for the id of a change request, and its result. */
export interface EarlierAttempt {
  readonly uid: string | null;
  readonly attempt: number;
  /** null for results from before contents were stored */
  readonly content: string | null;
  /** null before the first result */
  readonly result: AppliedChanges | null;
}

const superseded: AppliedChanges = {
  outcome: 'conflict',
  conflicts: [{ code: 'superseded', message: 'Change request was applied or changed by someone else' }],
  inverse: [],
};

/**
 * The result to return without applying the changes: the stored one if the same changes have been applied or if it is of the same attempt,
 * and a conflict if a newer attempt stored another result. Undefined where the changes have to be applied.
 */
export function resultOfEarlierAttempt(
  { uid, attempt, content }: Omit<AttemptIdentity, 'id'>,
  stored: EarlierAttempt,
): AppliedChanges | undefined {
  // After the change requests service was restored from a backup it assigns the same ids a second time: another uid is another request.
  if (stored.result === null || stored.uid !== uid) return undefined;
  const isSame = stored.content === null || stored.content === content;
  if (isSame && stored.result.outcome === 'applied') return stored.result;
  if (stored.attempt > attempt) return superseded;
  return isSame && stored.attempt === attempt ? stored.result : undefined;
}

const findForUpdate = `
  select ${sql.selectOf(AppliedChangeRequestEntity, 'applied_change_request')}
  from applied_change_request where id = $1 for update`;

/** The results of attempts to apply change requests, within a transaction. */
export function attemptResultRepository(tx: Tx) {
  return {
    /**
     * Locks a change request against other attempts to apply it. Returns the result to return without applying the changes, and
     * undefined where they have to be applied, as `resultOfEarlierAttempt` decides.
     */
    lockAndFindEarlier: async ({ id, ...attempt }: AttemptIdentity): Promise<AppliedChanges | undefined> => {
      await insertIfAbsent(tx, AppliedChangeRequestEntity, { id, attempt: 0, result: null });
      const [row] = await tx.query<EarlierAttempt>(findForUpdate, [id]);
      return row && resultOfEarlierAttempt(attempt, row);
    },

    store: async ({ id, ...attempt }: AttemptIdentity, result: AppliedChanges): Promise<void> => {
      await tx.em.nativeUpdate(AppliedChangeRequestEntity, { id }, { ...attempt, result });
    },
  };
}
