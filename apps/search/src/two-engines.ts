import type { FeatureIndex } from './feature-index.ts';
import { type Reason, Unanswered } from './meilisearch/unanswered.ts';

/** What a search came from: the engine, and why it was not the other one. */
export type AnsweredBy = { readonly engine: 'meilisearch' } | { readonly engine: 'postgres'; readonly reason: Reason };

export interface TwoEngines {
  readonly meilisearch: FeatureIndex;
  readonly postgres: FeatureIndex;
  /** told of each answer */
  readonly answered: (by: AnsweredBy) => void;
}

/** Who answered, as it is said beside the answer: `meilisearch`, or `postgres;reason=<why>`. */
const said = (by: AnsweredBy): string => (by.engine === 'meilisearch' ? by.engine : `${by.engine};reason=${by.reason}`);

/** Asks Meilisearch; whenever it has no answer that is right beyond doubt, PostgreSQL gives it. */
export const twoEngines = ({ meilisearch, postgres, answered }: TwoEngines): FeatureIndex => ({
  search: async (query, searcher) => {
    let by: AnsweredBy = { engine: 'meilisearch' };
    const found = await meilisearch.search(query, searcher).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error;
      by = { engine: 'postgres', reason: error.reason };
      return postgres.search(query, searcher);
    });
    answered(by);
    return { ...found, answeredBy: said(by) };
  },
});
