import type { StateVersion } from '@bunting/contracts';
import { onlyRow, type ReadDatabase, type Statement } from '@bunting/database';
import { digestOfVersionsSql } from '@bunting/outbox';
import { featureStatesSql } from '../features/feature-queries.ts';

/** A digest of the versions of a group of entities: of the features of a project, or of all segments. */
export interface GroupDigest {
  readonly group: string;
  readonly count: number;
  readonly digest: string;
}

/** A current state; its version is null if the entity never existed. */
export interface CurrentState {
  readonly id: string;
  readonly version: number | null;
  readonly state: unknown;
}

const digestFeatures: Statement = {
  name: 'digest-features',
  text: `
    with requested as (select id from project where id collate "C" > $1 order by id collate "C" limit $2)
    select (select case when count(*) = $2 then max(id collate "C") end from requested) as next, coalesce((
      select json_agg(group_digest order by group_digest."group" collate "C") from (
        select project as "group", count(*) as count, ${digestOfVersionsSql('name', 'version')} as digest
        from feature where project in (select id from requested) group by project) as group_digest), '[]') as groups`,
};

const digestSegments: Statement = {
  name: 'digest-segments',
  text: `select '' as "group", count(*) as count, ${digestOfVersionsSql('id', 'version')} as digest from segment`,
};

const versionsOfFeatures: Statement = {
  name: 'versions-of-features',
  text: `
    select name as id, version from feature
    where name collate "C" > $2 and ($1::text is null or project = $1) order by name collate "C" limit $3`,
};

const versionsOfSegments: Statement = {
  name: 'versions-of-segments',
  text: `
    select id::text as id, version from segment
    where id::text collate "C" > $1 order by id::text collate "C" limit $2`,
};

const features: Statement = {
  name: 'current-features',
  text: `
    with requested_feature as (select * from feature where name = any ($1::text[])),
      stored as (${featureStatesSql('requested_feature')})
    select stored.id, stored.version, stored.state from stored
    union all
    select requested.name, deleted.version, null from unnest($1::text[]) as requested (name)
      left join deleted_feature deleted on deleted.name = requested.name
      where not exists (select from requested_feature where requested_feature.name = requested.name)`,
};

const segments: Statement = {
  name: 'current-segments',
  text: `
    select requested.id, segment.version,
      case when segment.id is not null then json_build_object('id', segment.id, 'name', segment.name, 'project', segment.project) end as state
    from unnest($1::text[]) as requested (id) left join segment on segment.id::text = requested.id`,
};

/** Reads current states and their versions, with which consumers check their projections for drift. */
export const stateReader = (database: ReadDatabase) => ({
  /** Digests of the features of at most `projects` projects, after the id `after`. */
  digestFeatures: async (after: string, projects: number): Promise<{ groups: GroupDigest[]; next: string | null }> => {
    type Page = { groups: GroupDigest[]; next: string | null };
    return onlyRow(await database.read<Page>(digestFeatures, [after, projects]), digestFeatures);
  },
  digestSegments: (): Promise<GroupDigest[]> => database.read<GroupDigest>(digestSegments),
  versionsOfFeatures: (project: string | undefined, after: string, limit: number): Promise<StateVersion[]> =>
    database.read(versionsOfFeatures, [project ?? null, after, limit]),
  versionsOfSegments: (after: string, limit: number): Promise<StateVersion[]> =>
    database.read(versionsOfSegments, [after, limit]),
  features: (names: readonly string[]): Promise<CurrentState[]> => database.read(features, [names]),
  segments: (ids: readonly string[]): Promise<CurrentState[]> => database.read(segments, [ids]),
});
