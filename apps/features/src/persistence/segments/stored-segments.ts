import { invalid, notFound, refusal, type SegmentStrategies } from '@bunting/contracts';
import { brokenConstraint, type Database, type Statement, type Tx } from '@bunting/database';
import { named } from '../../domain/refusals.ts';
import type { SegmentNeighbours, StoredSegment } from '../../domain/segment.ts';
import type { ChangeApplication } from '../changes/applied-changes.ts';
import { storedSegmentJson } from '../entities.ts';
import { segmentJson } from './segment-repository.ts';
import { strategiesWhere } from '../features/strategy-uses.ts';
import type { Seen } from '../entity-tags.ts';

const getForUpdate = `
  select ${storedSegmentJson('s')} as segment,
    (select id from segment where name = $2) as "idOfName"
  from segment s where s.id = $1 for update of s`;

// A statement of its own: it must see who came to use the segment while this one waited for its lock.
const usersOf = `
  select name, project from feature
  where segment_ids @> array[$1::integer] and segment_ids <> '{}' and archived_at is null order by name`;

interface Row {
  readonly segment: StoredSegment;
  readonly idOfName: number | null;
}

export const noSuchSegment = (id: number) => notFound(`No segment exists with ID "${id}"`);

/** Segments that are there already, within a unit of work. */
export const storedSegments = ({ query }: Tx, application: ChangeApplication) => {
  const seen = new Map<number, Seen<StoredSegment>>();
  const stored = (id: number, after: StoredSegment | undefined): void => {
    const one = seen.get(id);
    if (one !== undefined) one.after = after;
  };
  return {
    /** What was got for update, by id. */
    seen,

    /** The segment, with who uses it; of names, the neighbours know the one that is asked for. */
    getForUpdate: async (
      id: number,
      name: string = '',
    ): Promise<{ readonly segment: StoredSegment; readonly neighbours: SegmentNeighbours }> => {
      const [row] = await query<Row>(getForUpdate, [id, name]);
      if (row === undefined) throw noSuchSegment(id);
      const { segment, idOfName } = row;
      const users = await query<SegmentNeighbours['users'][number]>(usersOf, [id]);
      seen.set(id, { before: segment, after: segment });
      return {
        segment,
        neighbours: { users, idOfName: (wanted) => (wanted === name ? (idOfName ?? undefined) : undefined) },
      };
    },

    save: async (segment: StoredSegment): Promise<void> => {
      try {
        await application.saveSegment(segment);
        stored(segment.id, segment);
      } catch (error) {
        const broken = brokenConstraint(error);
        if (broken === 'segment_name_is_unique') throw refusal('NameExistsError', 'Segment name already exists');
        if (broken !== 'segment_project_fkey') throw error;
        const sent = named(segment.project ?? '');
        throw invalid(
          `The \`/body/project\` property must name a project that exists. You provided "${sent}".`,
          '/body/project',
        );
      }
    },

    remove: async (segment: StoredSegment): Promise<void> => {
      await application.deleteSegment(segment);
      stored(segment.id, undefined);
    },

    /** Where the strategy with that id is. */
    featureOfStrategy: async (id: string): Promise<{ readonly name: string; readonly project: string } | undefined> => {
      const text = `select name, project from feature where strategy_ids @> array[$1::text] and strategy_ids <> '{}'`;
      return (await query<{ name: string; project: string }>(text, [id]))[0];
    },
  };
};
export type StoredSegments = ReturnType<typeof storedSegments>;

const isNameTaken: Statement = {
  name: 'segment-name',
  text: 'select from segment where name = $1',
};
const users: Statement = {
  name: 'strategies-of-segment',
  text: `
    select ${strategiesWhere(
      `f.segment_ids @> array[s.id] and f.segment_ids <> '{}' and f.project <> all ($2::text[])`,
      `strategy -> 'segments' @> to_jsonb(s.id)`,
    )} as strategies
    from segment s where s.id = $1 and (s.project is null or s.project <> all ($2::text[]))`,
};
const ofStrategy: Statement = {
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

/** Where segments are used, for who only looks. */
export const segmentUseReader = (database: Database) => ({
  isNameTaken: async (name: string): Promise<boolean> => (await database.read(isNameTaken, [name])).length > 0,
  strategiesOf: async (id: number, hidden: readonly string[]): Promise<SegmentStrategies['strategies']> => {
    const [row] = await database.read<Pick<SegmentStrategies, 'strategies'>>(users, [id, hidden]);
    if (row === undefined) throw noSuchSegment(id);
    return row.strategies;
  },
  ofStrategy: async (id: string, hidden: readonly string[]): Promise<string> => {
    const [row] = await database.read<{ json: string }>(ofStrategy, [id, hidden]);
    if (row === undefined) throw notFound(`Could not find strategy with id: ${named(id)}`);
    return row.json;
  },
});
export type SegmentUseReader = ReturnType<typeof segmentUseReader>;
