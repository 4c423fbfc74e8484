import type { StrategyProperties, Tag } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { type Feature, strategiesOf } from '../features/feature.ts';
import { SerializationFailure } from './unit-of-work.ts';

/** The items that are new, each once. */
function newItems<T>(items: readonly T[], before: readonly T[]): T[] {
  const known = new Set(before);
  return [...new Set(items)].filter((item) => !known.has(item));
}

/** A feature before and after it is stored. */
export interface FeatureBeforeAndAfter {
  readonly before: Feature | undefined;
  readonly after: Feature;
  /** the feature that has the references already: the locked source of a clone; without it, `before` */
  readonly like?: Feature | undefined;
}

/** Objects that features or default strategies refer to, which are locked against deletion. */
export interface NewReferences {
  /** with the project that uses them */
  readonly segments: readonly { readonly id: number; readonly project: string }[];
  readonly contextFields: readonly string[];
  readonly strategyTypes: readonly string[];
  readonly tags: readonly Tag[];
  readonly environments: readonly { readonly project: string; readonly name: string }[];
  readonly projects: readonly string[];
}

/**
 * The references of a feature that it did not have before, or that nothing protected while it was archived. Its project is among them
 * when the feature moves there or is revived; operations that add features lock the project themselves, first.
 */
export function newReferences({ before, after, like = before }: FeatureBeforeAndAfter): NewReferences {
  const { project } = after;
  const likeInProject = like?.project === project ? like : undefined;
  // Objects that an archived feature refers to may be deleted, so those of a revived feature are locked as if all were new.
  const isRevived = before !== undefined && before.archivedAt !== null && after.archivedAt === null;
  const strategiesBefore = like === undefined || isRevived ? [] : strategiesOf(like);
  const strategiesAfter = strategiesOf(after);
  const wasActive = before === undefined || (before.project === project && before.archivedAt === null);
  const entersProject = after.archivedAt === null && !wasActive;
  return {
    segments: newItems(
      strategiesAfter.flatMap(({ segments }) => segments),
      (likeInProject === undefined ? [] : strategiesBefore).flatMap(({ segments }) => segments),
    ).map((id) => ({ id, project })),
    contextFields: newItems(
      strategiesAfter.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
      strategiesBefore.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    ),
    strategyTypes: newItems(
      strategiesAfter.map(({ name }) => name),
      strategiesBefore.map(({ name }) => name),
    ),
    tags: after.tags.filter(
      ({ type, value }) => like?.tags.some((tag) => tag.type === type && tag.value === value) !== true,
    ),
    environments: newItems(Object.keys(after.environments), Object.keys(likeInProject?.environments ?? {})).map(
      (name) => ({
        project,
        name,
      }),
    ),
    projects: entersProject ? [project] : [],
  };
}

/** Locks the referenced rows that exist, in a fixed order, and counts those that do not. */
const lock = `
  with
    locked_project as (
      select id from project where id = any ($1::text[]) and archived_at is null order by id for share),
    locked_environment as (
      select project, environment from project_environment
      where (project, environment) in (select * from json_to_recordset($2::json) as reference (project text, name text))
      order by project, environment for key share),
    locked_segment as (
      select id, project from segment where id in (select id from json_to_recordset($3::json) as reference (id integer))
      order by id for key share),
    locked_field as (select name from context_field where name = any ($4::text[]) order by name for key share),
    locked_type as (select name from strategy_type where name = any ($5::text[]) order by name for key share),
    locked_tag as (
      select type, value from tag
      where (type, value) in (select * from json_to_recordset($6::json) as reference (type text, value text))
      order by type, value for key share)
  select (select count(*) from unnest($1::text[]) as id where id not in (select id from locked_project))
    + (select count(*) from json_to_recordset($2::json) as reference (project text, name text)
       where (project, name) not in (select project, environment from locked_environment))
    + (select count(*) from json_to_recordset($3::json) as reference (id integer, project text)
       where not exists (select from locked_segment locked
         where locked.id = reference.id and (locked.project is null or locked.project = reference.project)))
    + (select count(*) from unnest($4::text[]) as name where name not in (select name from locked_field))
    + (select count(*) from unnest($5::text[]) as name where name not in (select name from locked_type))
    + (select count(*) from json_to_recordset($6::json) as reference (type text, value text)
       where (type, value) not in (select type, value from locked_tag)) as missing`;

/**
 * Locks referenced objects against deletion until the end of the transaction, in one statement; none if there are no references but tags
 * that are locked already.
 * @throws SerializationFailure when a referenced object was deleted concurrently.
 */
async function lockObjects(
  { query }: Pick<Tx, 'query'>,
  references: readonly NewReferences[],
  lockedTags: readonly Tag[] = [],
): Promise<void> {
  const unique = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];
  const projects = unique(references.map((reference) => reference.projects));
  const environments = references.flatMap((reference) => reference.environments);
  const segments = references.flatMap((reference) => reference.segments);
  const fields = unique(references.map((reference) => reference.contextFields));
  const types = unique(references.map((reference) => reference.strategyTypes));
  const isLocked = ({ type, value }: Tag): boolean =>
    lockedTags.some((tag) => tag.type === type && tag.value === value);
  const tags = references.flatMap((reference) => reference.tags.filter((tag) => !isLocked(tag)));
  if ([projects, environments, segments, fields, types, tags].every(({ length }) => length === 0)) return;
  const json = (items: readonly unknown[]): string => JSON.stringify(items);
  const values = [projects, json(environments), json(segments), fields, types, json(tags)];
  const [row] = await query<{ missing: number }>(lock, values);
  if (row === undefined || row.missing > 0)
    throw new SerializationFailure('A referenced object was deleted concurrently.');
}

/**
 * Locks the segments and context fields of a default strategy against deletion until the end of the transaction.
 * @throws SerializationFailure when one was deleted concurrently.
 */
export function lockReferencesOfDefaultStrategy(
  tx: Pick<Tx, 'query'>,
  project: string,
  { segments = [], constraints = [] }: StrategyProperties,
): Promise<void> {
  return lockObjects(tx, [
    {
      segments: [...new Set(segments)].map((id) => ({ id, project })),
      contextFields: constraints.map(({ contextName }) => contextName),
      strategyTypes: [],
      tags: [],
      environments: [],
      projects: [],
    },
  ]);
}

/**
 * Locks what features newly refer to against deletion until the end of the transaction: segments, context fields, strategy types,
 * tags, the project and its environments. One statement; none if there is no new reference.
 * @throws SerializationFailure when a referenced object was deleted concurrently.
 */
export function lockReferences(tx: Pick<Tx, 'query'>) {
  return (changes: readonly FeatureBeforeAndAfter[], lockedTags: readonly Tag[]): Promise<void> =>
    lockObjects(tx, changes.map(newReferences), lockedTags);
}
