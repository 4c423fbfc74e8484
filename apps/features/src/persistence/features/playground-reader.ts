import type { Database, Statement } from '@bunting/database';
import type { PlaygroundContent } from '../../domain/playground.ts';

const list = (select: string): string => `(select coalesce(json_agg(item), '[]') from (${select}) as items (item))`;

/** `$1` environments, `$2` hidden projects, `$3` projects or null for every one, `$4` the maximum number of features. */
const playground: Statement = {
  name: 'playground',
  text: `
    with selected as (
      select name, project, dependencies, environments, segment_ids from feature
      where archived_at is null and project <> all ($2::text[]) and ($3::text[] is null or project = any ($3::text[]))
      order by name limit $4
    )
    select json_build_object(
      'environments', ${list(`select name from environment where name = any ($1::text[])`)},
      'features', ${list(`
        select json_build_object('name', s.name, 'project', s.project, 'dependencies', s.dependencies, 'environments', coalesce((
          select json_object_agg(connected.environment, s.environments -> connected.environment) from project_environment connected
          where connected.project = s.project and connected.environment = any ($1::text[]) and s.environments ? connected.environment
        ), '{}')) from selected s order by s.name`)},
      'segments', ${list(`
        select json_build_object('id', id, 'name', name, 'constraints', constraints) from segment
        where id in (select used from selected, unnest(segment_ids) as used)`)}
    ) as content`,
};

/** Reads what the playground evaluates: active features, by name, with the segments that they use. One statement. */
export const playgroundReader =
  (database: Pick<Database, 'read'>) =>
  async (
    environments: readonly string[],
    {
      projects,
      hidden,
      limit,
    }: { readonly projects?: readonly string[]; readonly hidden: readonly string[]; readonly limit: number },
  ): Promise<PlaygroundContent> => {
    const values = [environments, hidden, projects ?? null, limit];
    const [row] = await database.read<{ content: PlaygroundContent }>(playground, values);
    return (row as { content: PlaygroundContent }).content;
  };
