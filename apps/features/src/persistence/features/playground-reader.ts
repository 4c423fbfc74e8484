import type { Database, Statement } from '@bunting/database';
import type { PlaygroundContent } from '../../domain/playground.ts';

const list = (select: string): string => `(select coalesce(json_agg(item), '[]') from (${select}) as items (item))`;

/** The content of a playground: the features of the query `selected`, with the segments that they use and those of `$2`. */
const contentOf = (selected: string): string => `
    with selected as (${selected})
    select json_build_object(
      'environments', ${list(`select name from environment where name = any ($1::text[])`)},
      'features', ${list(`
        select json_build_object('name', s.name, 'project', s.project, 'dependencies', s.dependencies, 'environments', coalesce((
          select json_object_agg(connected.environment, s.environments -> connected.environment) from project_environment connected
          where connected.project = s.project and connected.environment = any ($1::text[]) and s.environments ? connected.environment
        ), '{}')) from selected s order by s.name`)},
      'segments', ${list(`
        select json_build_object('id', id, 'name', name, 'constraints', constraints) from segment
        where id = any ($2::int[]) or id in (select used from selected, unnest(segment_ids) as used)`)}
    ) as content`;

/** `$3` hidden projects, `$4` projects or null for every one, `$5` the maximum number of features. */
const ofProjects: Statement = {
  name: 'playground',
  text: contentOf(`
      select name, project, dependencies, environments, segment_ids from feature
      where archived_at is null and project <> all ($3::text[]) and ($4::text[] is null or project = any ($4::text[]))
      order by name limit $5`),
};

/** `$3` names of features, `$4` ids of segments whose users are read, `$5` the maximum number of features. */
const ofFeatures: Statement = {
  name: 'playground-of-features',
  text: contentOf(`
      with wanted as (
        select name, parents from feature where archived_at is null and (name = any ($3::text[]) or segment_ids && $4::int[])
        order by name limit $5
      )
      select name, project, dependencies, environments, segment_ids from feature where archived_at is null
      and (name in (select name from wanted) or name in (select unnest(parents) from wanted))`),
};

export interface ProjectSelection {
  readonly projects?: readonly string[];
  readonly hidden: readonly string[];
  readonly limit: number;
  /** the ids of segments that are read, too */
  readonly segments?: readonly number[];
}

export interface FeatureSelection {
  readonly names: readonly string[];
  /** the ids of segments; the features that use them are read, too */
  readonly usersOf: readonly number[];
  readonly limit: number;
  /** the ids of segments that are read, too */
  readonly segments: readonly number[];
}

/** Reads what the playground evaluates: active features, by name, with the segments that they use. One statement each. */
export const playgroundReader = (database: Pick<Database, 'read'>) => {
  const read = async (statement: Statement, values: readonly unknown[]): Promise<PlaygroundContent> => {
    const [row] = await database.read<{ content: PlaygroundContent }>(statement, [...values]);
    return (row as { content: PlaygroundContent }).content;
  };
  return {
    ofProjects: (environments: readonly string[], { projects, hidden, limit, segments = [] }: ProjectSelection) =>
      read(ofProjects, [environments, segments, hidden, projects ?? null, limit]),
    /** Features by name, and the features that they depend on. */
    ofFeatures: (environments: readonly string[], { names, usersOf, limit, segments }: FeatureSelection) =>
      read(ofFeatures, [environments, segments, names, usersOf, limit]),
  };
};
