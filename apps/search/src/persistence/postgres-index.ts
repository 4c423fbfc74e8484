import type { Database } from '@bunting/database';
import type { FeatureIndex } from '../feature-index.ts';
import type { Holding } from '../query/filters.ts';
import { alikeTexts } from './alike.ts';
import type { NamedSegments } from './conditions.ts';
import { knownTotals, type KnownTotals } from './known-totals.ts';
import { searchStatement } from './search-statement.ts';

const namedSegments = {
  name: 'segments-by-name',
  text: `select coalesce(array_agg(id order by id), '{}') as ids, count(distinct name)::integer as names
    from segment where name = any($1::text[])`,
};

/** The segments that have the names which are asked for now. */
export const segmentsOf = async (database: Database, asked: Holding): Promise<NamedSegments> => {
  const [row] = await database.read<{ ids: number[]; names: number }>(namedSegments, [asked.values]);
  return { ...asked, ids: row?.ids ?? [], complete: row?.names === asked.values.length };
};

const attempts = 5;

interface FoundRow {
  readonly total: number;
  readonly mark: string;
  readonly isCurrent: boolean;
  readonly features: string;
}

/** Finds features in the tables of the search service. */
export const postgresIndex = (database: Database, totals: KnownTotals = knownTotals(1_000)): FeatureIndex => {
  return {
    search: async (query, searcher) => {
      const isFuzzy = query.fuzzy && query.texts.length > 0;
      const prepared = isFuzzy ? { ...query, alike: await alikeTexts(database, query.texts) } : query;
      for (let tries = 1; ; tries++) {
        const segments = query.segment === undefined ? undefined : await segmentsOf(database, query.segment);
        const { text, values, totalKey } = searchStatement(prepared, segments, searcher, totals);
        // Without a name it is planned for the values it has: which index is best depends on what is looked for.
        const [row] = (await database.read<FoundRow>({ name: '', text }, values)) as [FoundRow];
        const { total, mark, isCurrent, features } = row;
        if (totalKey !== undefined) totals.keep(totalKey, { mark, total });
        // A segment that was renamed in between would be found by a name that the answer does not show.
        if (isCurrent || tries === attempts) return { features: `[${features}]`, total };
      }
    },
  };
};
