import { onlyRow, prepared, type ReadDatabase, type Statement } from '@bunting/database';
import type { PlaygroundContent, PlaygroundSegment } from './playground.ts';
import { jsonListOf, withoutNulls } from '../unit-of-work/sql.ts';

/**
 * SQL: the content of a playground, in the environments `$1`: the features of the query `selected`, with the segments that they use and
 * those of `$2`.
 * @param tables common table expressions that `selected` and `members` may use
 * @param members further members of the JSON
 */
function contentOf(selected: string, { tables = '', members = '' } = {}): string {
  return `
    with ${tables} selected as (${selected})
    select json_build_object(${members}
      'environments', ${jsonListOf(`select name from environment where name = any ($1::text[])`)},
      'features', ${jsonListOf(`
        select json_build_object('name', s.name, 'project', s.project, 'dependencies', s.dependencies, 'environments', coalesce((
          select json_object_agg(connection.environment, s.environments -> connection.environment) from project_environment connection
          where connection.project = s.project and connection.environment = any ($1::text[]) and s.environments ? connection.environment
        ), '{}')) from selected s order by s.name`)},
      'segments', ${jsonListOf(`
        select ${withoutNulls(
          "'id': id, 'name': name, 'constraints': constraints",
          "'listRoot': (select encode(root, 'hex') from segment_list where segment = segment.id)",
          "'listField': (select context_name from segment_list where segment = segment.id)",
        )} from segment
        where id = any ($2::int[]) or id in (select used from selected, unnest(segment_ids) as used)`)}
    ) as content`;
}

/** `$3` hidden projects, `$4` projects or null for all, `$5` the maximum number of features. */
const ofProjects = prepared(
  contentOf(`
    select name, project, dependencies, environments, segment_ids from feature
    where archived_at is null and project <> all ($3::text[]) and ($4::text[] is null or project = any ($4::text[]))
    order by name limit $5`),
);

/**
 * `$3` names of features, `$4` ids of segments whose features are read as well, `$5` the maximum number of these features, and of the others
 * that depend on them, `$6` hidden projects, none of whose features count.
 */
const ofFeatures = prepared(
  contentOf(`
    with requested as (
      select name, parents from feature where archived_at is null and project <> all ($6::text[])
      and (name = any ($3::text[]) or segment_ids && $4::int[])
      order by name limit $5
    ), dependents as (
      select name, parents from feature where archived_at is null and project <> all ($6::text[])
      and parents <> '{}' and parents && (select array_agg(name) from requested) and name not in (select name from requested)
      order by name limit $5
    ), evaluated as (select * from requested union select * from dependents)
    select name, project, dependencies, environments, segment_ids from feature where archived_at is null
    and (name = any ($3::text[]) or name in (select name from evaluated) or name in (select unnest(parents) from evaluated))`),
);

const isInPage = `archived_at is null and project <> all ($3::text[]) and ($4::text[] is null or project = any ($4::text[]))
  and ($6::text is null or position(lower($6) in lower(name)) > 0)
  and ($7::text[] is null or name = any ($7::text[]))
  and ($8::text[] is null or name = any ($8::text[]) or segment_ids && $9::int[] or parents && $8::text[])`;

/**
 * `$3` hidden projects, `$4` projects or null for all, `$5` the maximum number of features of the page, `$6` a text in names,
 * `$7` names, `$8` names of features and `$9` ids of segments: features of the page are or depend on one of the former, or use one of the
 * latter; `$10` the last name before the page, `$11` names of features that are read, too. `$4` and `$6` to `$10` may be null.
 */
const pageOf = prepared(
  contentOf(
    `select name, project, dependencies, environments, segment_ids from feature where archived_at is null
      and (name in (select name from page) or name in (select unnest(parents) from page) or name = any ($11::text[]))`,
    {
      tables: `page as (
        select name, project, parents from feature where ${isInPage} and ($10::text is null or name > $10) order by name limit $5
      ),`,
      members: `
      'page', ${jsonListOf(`select json_build_object('name', name, 'projectId', project) from page order by name`)},
      'total', (select count(*) from feature where ${isInPage}),`,
    },
  ),
);

export interface PlaygroundOfProjectsQuery {
  readonly projects?: readonly string[];
  readonly hidden: readonly string[];
  readonly limit: number;
  /** the ids of segments that are read, too */
  readonly segments?: readonly number[];
}

/** A page of features, by name. Omitted filters do not restrict it. */
export interface PlaygroundPageQuery extends PlaygroundOfProjectsQuery {
  readonly query?: string | undefined;
  readonly names?: readonly string[] | undefined;
  /** only features with these names, that depend on one of them, or that use one of the segments */
  readonly concerning?: { readonly names: readonly string[]; readonly segments: readonly number[] } | undefined;
  /** the last name of the previous page */
  readonly after?: string | undefined;
  /** the names of features that are read in addition to the page */
  readonly alsoNames?: readonly string[] | undefined;
}

/** What the playground evaluates, before the lists of its segments are read. */
export interface StoredPlaygroundContent extends Omit<PlaygroundContent, 'segments'> {
  readonly segments: readonly (Omit<PlaygroundSegment, 'list'> & {
    /** the hash of the block that lists the blocks of its list, and the context field; absent without a list */
    readonly listRoot?: string;
    readonly listField?: string;
  })[];
}

export interface PlaygroundContentPage extends StoredPlaygroundContent {
  /** the features of the page; the content has those that they depend on, too */
  readonly page: readonly { readonly name: string; readonly projectId: string }[];
  /** the number of features of all pages */
  readonly total: number;
}

export interface PlaygroundOfFeaturesQuery {
  readonly names: readonly string[];
  /** the ids of segments; the features that use them are read, too */
  readonly usingSegments: readonly number[];
  readonly hidden: readonly string[];
  readonly limit: number;
  /** the ids of segments that are read, too */
  readonly segments: readonly number[];
}

/** Reads what the playground evaluates: active features, by name, with the segments that they use. One statement each. */
export function playgroundReader(database: ReadDatabase) {
  const read = async <T extends StoredPlaygroundContent = StoredPlaygroundContent>(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<T> => onlyRow(await database.read<{ content: T }>(statement, values), statement).content;
  return {
    ofProjects: (
      environments: readonly string[],
      { projects, hidden, limit, segments = [] }: PlaygroundOfProjectsQuery,
    ) => read(ofProjects, [environments, segments, hidden, projects ?? null, limit]),
    /** A page of features, and the features that they depend on. */
    ofPage: (
      environments: readonly string[],
      { projects, hidden, limit, segments = [], ...page }: PlaygroundPageQuery,
    ) => {
      const { query, names, concerning, after, alsoNames = [] } = page;
      const filters = [query ?? null, names ?? null, concerning?.names ?? null, concerning?.segments ?? null];
      const values = [environments, segments, hidden, projects ?? null, limit, ...filters, after ?? null, alsoNames];
      return read<PlaygroundContentPage>(pageOf, values);
    },
    /** Features by name, those that depend on them, and the features that these depend on. */
    ofFeatures: (
      environments: readonly string[],
      { names, usingSegments, hidden, limit, segments }: PlaygroundOfFeaturesQuery,
    ) => read(ofFeatures, [environments, segments, names, usingSegments, limit, hidden]),
  };
}
