import type { ReadableStateEntity } from '@bunting/contracts';
import { prepared, type ReadDatabase, type Statement } from '@bunting/database';
import { featureStatesSql } from '../unit-of-work/feature-sql.ts';

export interface StateVersion {
  readonly id: string;
  readonly version: number;
}

export interface CurrentState extends StateVersion {
  readonly state: unknown;
}

const features = prepared(`
  with page as (select * from feature where name collate "C" > $1 order by name collate "C" limit $2)
  select id, version, state from (${featureStatesSql('page')}) as stored order by id collate "C"`);

const segments = prepared(`
  select id::text as id, version, json_build_object('id', id, 'name', name, 'project', project) as state from segment
  where id::text collate "C" > $1 order by id::text collate "C" limit $2`);

const versions: { readonly [E in ReadableStateEntity]: Statement } = {
  feature: prepared(
    `select name as id, version from feature where name collate "C" > $1 order by name collate "C" limit $2`,
  ),
  segment: prepared(`
    select id::text as id, version from segment where id::text collate "C" > $1 order by id::text collate "C" limit $2`),
};

/** Reads current states, with which consumers check their projections for drift. */
export function stateReader(database: ReadDatabase) {
  return {
    versions: (entity: ReadableStateEntity, after: string, limit: number): Promise<StateVersion[]> =>
      database.read(versions[entity], [after, limit]),
    features: (after: string, limit: number): Promise<CurrentState[]> => database.read(features, [after, limit]),
    segments: (after: string, limit: number): Promise<CurrentState[]> => database.read(segments, [after, limit]),
  };
}
