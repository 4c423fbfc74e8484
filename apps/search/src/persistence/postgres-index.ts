import type { Database } from '@bunting/database';
import type { FeatureIndex } from '../feature-index.ts';
import type { FeatureQuery } from '../query/feature-query.ts';
import type { Holding } from '../query/filters.ts';
import { alikeTexts } from './alike.ts';
import type { NamedSegments, PreparedQuery } from './conditions.ts';
import { knownTotals, type KnownTotals } from './known-totals.ts';
import { searchStatement } from './search-statement.ts';
import { soughtTexts } from './sought-texts.ts';

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

/** Looks up what the texts of a query are found by. @param plainly when words have come too often while it was searched */
const preparedQuery = async (database: Database, query: FeatureQuery, plainly: boolean): Promise<PreparedQuery> => {
  if (query.texts.length === 0) return query;
  if (query.fuzzy) return { ...query, alike: await alikeTexts(database, query.texts) };
  return plainly ? query : { ...query, sought: await soughtTexts(database, query.texts) };
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
      for (let tries = 1; ; tries++) {
        const prepared = await preparedQuery(database, query, tries === attempts);
        const segments = query.segment === undefined ? undefined : await segmentsOf(database, query.segment);
        const { text, values, totalKey } = searchStatement(prepared, segments, searcher, totals);
        // Without a name it is planned for the values it has: which index is best depends on what is looked for.
        const [row] = (await database.read<FoundRow>({ name: '', text }, values)) as [FoundRow];
        const { total, mark, isCurrent, features } = row;
        if (totalKey !== undefined) totals.keep(totalKey, { mark, total });
        // A segment that was renamed in between would be found by a name that the answer does not show, and a feature whose word
        // is new would not be found.
        if (isCurrent || tries === attempts) return { features: `[${features}]`, total };
      }
    },
  };
};
