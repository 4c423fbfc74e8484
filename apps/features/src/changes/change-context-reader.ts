import type { Database, Statement } from '@bunting/database';
import type { ChangeContext } from './change-context.ts';
import type { StoredSegment } from '../segments/segment.ts';
import type { Feature } from '../features/feature.ts';
import type { Referrer } from '../require-unused.ts';
import { featureJson, storedSegmentJson } from '../unit-of-work/entity-json-sql.ts';
import { defaultStrategiesWithSegment } from '../unit-of-work/default-strategies-sql.ts';
import {
  type ConstraintSettings,
  type PossibleReferences,
  projectContextJson,
  type ProjectContextJson,
  projectContextOf,
} from '../projects/project-context-reader.ts';
import { activeChildrenOfAll, isActive } from '../unit-of-work/active-features.ts';
import { jsonListOf } from '../unit-of-work/json-sql.ts';
import { selectProtectedEnvironments } from '../unit-of-work/protection-copy-repository.ts';

/** The project and objects to read for changes: those that they edit, and those that their handlers read besides. */
export interface ChangeContextQuery extends PossibleReferences {
  readonly project: string;
  /** names of features that change, and of their future parents */
  readonly features: readonly string[];
  /** ids of the segments that change */
  readonly segments: readonly number[];
  /** new names of segments */
  readonly segmentNames: readonly string[];
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
}

/** `$1` project, `$2` texts, `$3` numbers, `$4` names of features, `$5` ids of segments, `$6` names of segments. */
const storedContext: Statement = {
  name: 'change-context',
  text: `
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
        select json_build_object('id', id, 'name', name) from segment where name = any ($6::text[])`)}
    ) as context
    from project p where p.id = $1 and p.archived_at is null`,
};

const groupValues = <Item, Key, Value>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
  valueOf: (item: Item) => Value,
): Map<Key, Value[]> => {
  const groups = Map.groupBy(items, keyOf);
  return new Map([...groups].map(([key, members]) => [key, members.map(valueOf)]));
};

/**
 * Reads in one statement what changes refer to; undefined for a project that does not exist or is archived. Objects of the other
 * projects in `hidden` are left out.
 */
export const changeContextReader =
  (database: Pick<Database, 'read'>, settings: ConstraintSettings) =>
  async (
    { project, texts, numbers, features, segments, segmentNames }: ChangeContextQuery,
    hidden: readonly string[],
  ): Promise<StoredChangeContext | undefined> => {
    const values = [project, texts, numbers, features, segments, segmentNames];
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
    };
  };
