import type { Tx } from '@bunting/database';
import type { Feature } from '../../domain/feature.ts';

/**
 * What a decision rests on was taken away while it was made. The work is done again, as after a deadlock, and finds what is
 * there now.
 */
export class OvertakenError extends Error {
  readonly code = '40001';
}

const strategiesOf = (feature: Feature | undefined) =>
  Object.values(feature?.environments ?? {}).flatMap(({ strategies }) => strategies);

/** The items that are new, each once. */
const added = <T>(items: readonly T[], before: readonly T[]): T[] => {
  const known = new Set(before);
  return [...new Set(items)].filter((item) => !known.has(item));
};

/** A feature before and after it is stored; one that is new may take over what another speaks of. */
export interface StoredChange {
  readonly before: Feature | undefined;
  readonly after: Feature;
  readonly like?: Feature | undefined;
}

/**
 * What a feature speaks of and did not speak of before, or not while it was archived; its project, when it moves there or becomes active in it. Who adds one
 * to a project holds that project from the beginning.
 */
const newReferences = ({ before, after, like = before }: StoredChange) => {
  const { project } = after;
  const there = like?.project === project ? like : undefined;
  // While it was in the archive, what it uses was kept for it by nobody.
  const isRevived = before !== undefined && before.archivedAt !== null && after.archivedAt === null;
  const [was, is] = [isRevived ? [] : strategiesOf(like), strategiesOf(after)];
  const wasActive = before === undefined || (before.project === project && before.archivedAt === null);
  const entersProject = after.archivedAt === null && !wasActive;
  return {
    segments: added(
      is.flatMap(({ segments }) => segments),
      (there === undefined ? [] : was).flatMap(({ segments }) => segments),
    ).map((id) => ({ id, project })),
    contextFields: added(
      is.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
      was.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)),
    ),
    strategyTypes: added(
      is.map(({ name }) => name),
      was.map(({ name }) => name),
    ),
    tags: after.tags.filter(
      ({ type, value }) => like?.tags.some((tag) => tag.type === type && tag.value === value) !== true,
    ),
    environments: added(Object.keys(after.environments), Object.keys(there?.environments ?? {})).map((name) => ({
      ...{ project, name },
    })),
    projects: entersProject ? [project] : [],
  };
};

/** Locks what is there of the references, in one order, and counts what is not. */
const hold = `
  with
    held_project as (
      select id from project where id = any ($1::text[]) and archived_at is null order by id for share),
    held_environment as (
      select project, environment from project_environment
      where (project, environment) in (select * from json_to_recordset($2::json) as given (project text, name text))
      order by project, environment for key share),
    held_segment as (
      select id, project from segment where id in (select id from json_to_recordset($3::json) as given (id integer))
      order by id for key share),
    held_field as (select name from context_field where name = any ($4::text[]) order by name for key share),
    held_type as (select name from strategy_type where name = any ($5::text[]) order by name for key share),
    held_tag as (
      select type, value from tag
      where (type, value) in (select * from json_to_recordset($6::json) as given (type text, value text))
      order by type, value for key share)
  select (select count(*) from unnest($1::text[]) as id where id not in (select id from held_project))
    + (select count(*) from json_to_recordset($2::json) as given (project text, name text)
       where (project, name) not in (select project, environment from held_environment))
    + (select count(*) from json_to_recordset($3::json) as given (id integer, project text)
       where not exists (select from held_segment held
         where held.id = given.id and (held.project is null or held.project = given.project)))
    + (select count(*) from unnest($4::text[]) as name where name not in (select name from held_field))
    + (select count(*) from unnest($5::text[]) as name where name not in (select name from held_type))
    + (select count(*) from json_to_recordset($6::json) as given (type text, value text)
       where (type, value) not in (select type, value from held_tag)) as gone`;

/**
 * Keeps what features newly speak of from being taken away until the end of this work: segments, context fields, types of
 * strategies, tags, and the project with its environments. One statement, and none where nothing is new.
 * @throws OvertakenError when something is gone already.
 */
export const holdReferences =
  ({ query }: Pick<Tx, 'query'>) =>
  async (changes: readonly StoredChange[]): Promise<void> => {
    const all = changes.map(newReferences);
    const unique = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];
    const projects = unique(all.map((each) => each.projects));
    const environments = all.flatMap((each) => each.environments);
    const segments = all.flatMap((each) => each.segments);
    const fields = unique(all.map((each) => each.contextFields));
    const types = unique(all.map((each) => each.strategyTypes));
    const tags = all.flatMap((each) => each.tags);
    if ([projects, environments, segments, fields, types, tags].every(({ length }) => length === 0)) return;
    const json = (items: readonly unknown[]): string => JSON.stringify(items);
    const values = [projects, json(environments), json(segments), fields, types, json(tags)];
    const [found] = await query<{ gone: number }>(hold, values);
    if (found === undefined || found.gone > 0) throw new OvertakenError('What a feature speaks of was taken away.');
  };
