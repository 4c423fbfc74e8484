import { type SegmentUsage } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { type ReadDatabase, timestampSql, type Statement } from '@bunting/database';
import { segmentNotFound, strategyNotFound } from '../refusals.ts';
import type { StoredSegment } from './segment.ts';
import { storedSegmentJson } from '../unit-of-work/entity-json-sql.ts';
import type { JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import { strategiesWhereSql } from '../unit-of-work/strategies-sql.ts';
import { orNull, withoutNulls } from '../unit-of-work/json-sql.ts';
import { readJson } from '../unit-of-work/read-json.ts';

/** SQL: the row `s` of `segment` as clients receive it, with more members. */
const segmentJson = (...more: readonly string[]): string =>
  withoutNulls(
    `'id': s.id, 'name': s.name, 'description': ${orNull('s.description')}, 'project': s.project`,
    `'constraints': s.constraints, 'createdBy': s.created_by, 'createdAt': ${timestampSql('s.created_at')}`,
    ...more,
  );

const oneSegment: Statement = {
  name: 'segment',
  text: `select ${segmentJson()}::text as json, ${storedSegmentJson('s')} as stored from segment s
    where id = $1 and (project is null or project <> all ($2::text[]))`,
};

const allSegments: Statement = {
  name: 'segments',
  text: `
    with used as (
      select id, count(distinct project) as projects, count(*) as features
      from feature, unnest(segment_ids) as id 
      where segment_ids <> '{}' and archived_at is null and project <> all ($1::text[]) group by id)
    select json_build_object('segments', coalesce(json_agg(${segmentJson(
      `'usedInProjects': coalesce(used.projects, 0), 'usedInFeatures': coalesce(used.features, 0)`,
    )}
      order by s.name collate "C"), '[]'))::text as json
    from segment s left join used on used.id = s.id
    where s.project is null or s.project <> all ($1::text[])`,
};

const nameTaken: Statement = { name: 'segment-name', text: 'select from segment where name = $1' };

const strategiesOfSegment: Statement = {
  name: 'strategies-of-segment',
  text: `
    select ${strategiesWhereSql(
      `f.segment_ids @> array[s.id] and f.segment_ids <> '{}' and f.project <> all ($2::text[])`,
      `strategy -> 'segments' @> to_jsonb(s.id)`,
    )} as strategies
    from segment s where s.id = $1 and (s.project is null or s.project <> all ($2::text[]))`,
};

const segmentsOfStrategy: Statement = {
  name: 'segments-of-strategy',
  text: `
    select json_build_object('segments', coalesce((
      select json_agg(${segmentJson()} order by s.name collate "C") from segment s
      where to_jsonb(s.id) <@ (
        select strategy -> 'segments' from jsonb_path_query(f.environments, '$.*.strategies[*]') as strategy
        where strategy ->> 'id' = $1)), '[]'))::text as json
    from feature f where f.strategy_ids @> array[$1::text] and f.strategy_ids <> '{}'
      and f.project <> all ($2::text[])`,
};

/** Reads segments outside of transactions. Segments and features of the projects `hidden` are left out. */
export const segmentReader = (database: ReadDatabase) => ({
  all: (hidden: readonly string[]): Promise<string> => readJson(database, allSegments, [hidden]),
  one: async (id: number, hidden: readonly string[]): Promise<JsonWithEntityTag> => {
    const [row] = await database.read<{ json: string; stored: StoredSegment }>(oneSegment, [id, hidden]);
    if (row === undefined) throw segmentNotFound(id);
    return { json: row.json, tag: contentTag(row.stored) };
  },
  isNameTaken: async (name: string): Promise<boolean> => (await database.read(nameTaken, [name])).length > 0,
  /** The strategies of active features that use a segment. */
  strategiesOf: async (id: number, hidden: readonly string[]): Promise<SegmentUsage['strategies']> => {
    const [row] = await database.read<Pick<SegmentUsage, 'strategies'>>(strategiesOfSegment, [id, hidden]);
    if (row === undefined) throw segmentNotFound(id);
    return row.strategies;
  },
  /** The segments that a strategy uses. */
  ofStrategy: async (strategyId: string, hidden: readonly string[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(segmentsOfStrategy, [strategyId, hidden]);
    if (row === undefined) throw strategyNotFound(strategyId);
    return row.json;
  },
});
