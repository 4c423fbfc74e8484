import type { FuzzyMatch } from '../search/search-store.ts';
import type { FeatureQuery } from '../search/feature-query.ts';
import { featureNameOf } from '../index/index-document.ts';
import type { MeilisearchClient } from '../index/meilisearch-client.ts';
import { MeilisearchError } from './meilisearch-error.ts';

/** The maximum number of features for each text. */
const maxHits = 1_000;

/** Removes the characters that are operators in a query of Meilisearch: quotes, and minus signs before a word. */
const removeOperators = (text: string): string =>
  text
    .replace(/["']/g, ' ')
    .replace(/(^|\s)-+/g, '$1')
    .trim();
const hasWord = /[\p{L}\p{N}]/u;

/**
 * Finds the features that match the texts of a fuzzy query in Meilisearch, the most relevant first: at most 1,000 for each text.
 * @throws MeilisearchError when Meilisearch fails, or while the index is being built
 */
export const findFuzzyMatches = async (
  server: Pick<MeilisearchClient, 'search'>,
  indexUid: string,
  { texts, archived }: Pick<FeatureQuery, 'texts' | 'archived'>,
): Promise<readonly FuzzyMatch[]> => {
  // A text without a word would match every feature.
  const queries = texts.map(removeOperators).filter((text) => hasWord.test(text));
  if (queries.length === 0) return [];
  const [markers = [], ...results] = await server.search([
    { indexUid, filter: 'generation EXISTS', limit: 1 },
    ...queries.map((q) => ({
      indexUid,
      q,
      limit: maxHits,
      filter: `archived = ${archived ? 1 : 0}`,
      attributesToRetrieve: ['id'],
      matchingStrategy: 'all' as const,
    })),
  ]);
  if (markers.length === 0) throw new MeilisearchError('building', 'the index is being built');
  return results.flatMap((hits) =>
    hits.flatMap((hit, rank) => {
      const name = featureNameOf((hit as { id?: unknown } | null)?.id);
      return name === undefined ? [] : [{ name, relevance: maxHits - rank }];
    }),
  );
};
