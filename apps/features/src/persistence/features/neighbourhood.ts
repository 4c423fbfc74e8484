import type { Tx } from '@bunting/database';
import type { Surroundings } from '../../domain/surroundings.ts';
import { type Mentions, surroundingsJson, type SurroundingsJson, surroundingsOf } from './surroundings.ts';

const surroundings = `
  select ${surroundingsJson('$2::text[]', '$3::integer[]')} as surroundings
  from project p where p.id = $1 and p.archived_at is null`;

const children = `
  select parent, array_agg(child.name order by child.name) as children from feature child, unnest(child.parents) as parent
  where child.parents && $1::text[] and child.parents <> '{}' and child.archived_at is null and parent = any ($1::text[])
  group by parent`;

/**
 * What rules about several features must know beside them, within a unit of work: one statement each, however many features there are.
 * @param hidden the projects that the caller may not see
 */
export const neighbourhood = ({ query }: Tx, hidden: readonly string[]) => ({
  /** What there is around the features of a project; nothing for a project that there is not, or that is archived. */
  of: async (
    project: string,
    { texts, numbers }: Mentions = { texts: [], numbers: [] },
  ): Promise<Surroundings | undefined> => {
    const [row] = await query<{ surroundings: SurroundingsJson }>(surroundings, [project, texts, numbers]);
    return row === undefined ? undefined : surroundingsOf(row.surroundings, hidden);
  },

  /** By name of a feature, of those that have some: the active features that depend on it. */
  childrenOf: async (names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
    const rows = await query<{ parent: string; children: string[] }>(children, [names]);
    return new Map(rows.map((row) => [row.parent, row.children]));
  },
});
export type Neighbourhood = ReturnType<typeof neighbourhood>;
