import type { ReadDatabase, Statement } from '@bunting/database';
import { noProjectFound } from '../refusals.ts';
import { readJson } from '../unit-of-work/read-json.ts';

const creatorsMatching: Statement = {
  name: 'creators-of-features',
  text: `
    with creator as materialized (
      select distinct on (created_by_id) created_by_id as id, created_by_name as name from feature
      where project <> all ($1::text[]) order by created_by_id, created_at desc
    ), matching as (select * from creator where strpos(lower(name), $2) > 0)
    select json_build_object('total', (select count(*) from matching), 'flagCreators', coalesce((
      select json_agg(json_build_object('id', id, 'name', name) order by lower(name), id)
      from (select * from matching order by lower(name), id limit $3 offset $4) as page), '[]'))::text as json`,
};

const creatorsOfProject: Statement = {
  name: 'flag-creators',
  text: `
    select coalesce((
      select json_agg(json_build_object('id', id, 'name', name) order by name, id) from (
        select distinct on (created_by_id) created_by_id as id, created_by_name as name from feature
        where project = p.id order by created_by_id, created_at desc) as creators), '[]')::text as json
    from project p where p.id = $1`,
};

/** Reads the users who created features, as JSON, in one statement each. */
export const flagCreatorsReader = (database: ReadDatabase) => ({
  ofProject: async (id: string): Promise<string> => {
    const [row] = await database.read<{ json: string }>(creatorsOfProject, [id]);
    if (row === undefined) throw noProjectFound(id);
    return row.json;
  },
  /** The creators of features in projects that are not hidden. @param part a part of the name, in lower case */
  search: (
    hidden: readonly string[],
    part: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<string> => readJson(database, creatorsMatching, [hidden, part, limit, offset]),
});
