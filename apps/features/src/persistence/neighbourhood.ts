import type { Tx } from '@bunting/database';
import type { Surroundings } from '../domain/surroundings.ts';
import { type Mentions, surroundingsJson, type SurroundingsJson, surroundingsOf } from './surroundings.ts';

/** What rules about several features must know beside them, within a unit of work: one statement each, however many there are. */
export interface Neighbourhood {
  /** What there is around the features of a project; nothing for a project that there is not, or that is archived. */
  of(project: string, mentions?: Mentions): Promise<Surroundings | undefined>;
  /** By name of a feature, of those that have some: the active features that depend on it. */
  childrenOf(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

const surroundings = `
  select ${surroundingsJson('$2::text[]', '$3::integer[]')} as surroundings
  from project p where p.id = $1 and p.archived_at is null`;

const children = `
  select parent, array_agg(child.name order by child.name) as children from feature child, unnest(child.parents) as parent
  where child.parents && $1::text[] and child.parents <> '{}' and child.archived_at is null and parent = any ($1::text[])
  group by parent`;

/** @param hidden the projects that are not there for who has the work done */
export const neighbourhood = ({ query }: Tx, hidden: readonly string[]): Neighbourhood => ({
  of: async (project, { texts, numbers } = { texts: [], numbers: [] }) => {
    const [row] = await query<{ surroundings: SurroundingsJson }>(surroundings, [project, texts, numbers]);
    return row === undefined ? undefined : surroundingsOf(row.surroundings, hidden);
  },

  childrenOf: async (names) => {
    const rows = await query<{ parent: string; children: string[] }>(children, [names]);
    return new Map(rows.map((row) => [row.parent, row.children]));
  },
});
