import { invalid, notFound, refusal } from '@bunting/contracts';
import { contentTag } from '@bunting/contracts/hashing';
import { brokenConstraint, type Database, momentSql, type Statement, type Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import { named } from '../../domain/refusals.ts';
import type { SegmentContent, StoredSegment } from '../../domain/segment.ts';
import { SegmentEntity, storedSegmentJson } from '../entities.ts';
import { orNull, withoutNulls } from '../json-sql.ts';
import type { TaggedJson } from '../entity-tags.ts';

/** Segments within a unit of work. */
export const segmentRepository = (tx: Tx, outbox: Outbox) => ({
  /** How many segments there are; nobody else adds one until the end of this work. */
  lockAndCount: async (): Promise<number> => {
    await tx.query("select pg_advisory_xact_lock(hashtext('segments'))");
    return (await tx.query<{ count: number }>('select count(*) from segment'))[0]?.count ?? 0;
  },

  /** Stores a new segment, and tells its state. */
  add: async (
    content: SegmentContent,
    { createdBy, createdAt }: { readonly createdBy: string; readonly createdAt: string },
  ): Promise<StoredSegment> => {
    const { em } = tx;
    const segment = em.create(SegmentEntity, { ...content, createdBy, createdAt, version: 1 });
    try {
      await em.flush();
    } catch (error) {
      const broken = brokenConstraint(error);
      if (broken === 'segment_name_is_unique') throw refusal('NameExistsError', 'Segment name already exists');
      if (broken === 'segment_project_fkey') {
        const sent = named(content.project ?? '');
        throw invalid(
          `The \`/body/project\` property must name a project that exists. You provided "${sent}".`,
          '/body/project',
        );
      }
      throw error;
    }
    const { id, version } = segment;
    const state = { id, name: content.name, project: content.project };
    outbox.state({ entity: 'segment', id: String(id), version, state });
    return { ...content, id, createdBy, createdAt };
  },
});
export type SegmentRepository = ReturnType<typeof segmentRepository>;

/** SQL: the row `s` of `segment` as clients get it. */
export const segmentJson = (...more: readonly string[]): string =>
  withoutNulls(
    `'id': s.id, 'name': s.name, 'description': ${orNull('s.description')}, 'project': s.project`,
    `'constraints': s.constraints, 'createdBy': s.created_by, 'createdAt': ${momentSql('s.created_at')}`,
    ...more,
  );

const oneSegment: Statement = {
  name: 'segment',
  text: `select ${segmentJson()}::text as json, ${storedSegmentJson('s')} as own from segment s
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

/** Segments as they are now, as JSON, for who only looks. */
export const segmentReader = (database: Database) => ({
  all: async (hidden: readonly string[]): Promise<string> =>
    (await database.read<{ json: string }>(allSegments, [hidden]))[0]?.json ?? '',
  one: async (id: number, hidden: readonly string[]): Promise<TaggedJson> => {
    const [row] = await database.read<{ json: string; own: StoredSegment }>(oneSegment, [id, hidden]);
    if (row === undefined) throw notFound(`No segment exists with ID "${id}"`);
    return { json: row.json, tag: contentTag(row.own) };
  },
});
export type SegmentReader = ReturnType<typeof segmentReader>;
