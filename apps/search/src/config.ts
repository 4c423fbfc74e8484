import { databaseSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** The settings of the search service. */
export const SearchConfig = Type.Object({
  ...databaseSettings('SEARCH'),
  SEARCH_FRESHNESS_WAIT_MS: Type.Integer({
    minimum: 0,
    default: 1_000,
    description: 'maximum milliseconds that a search waits for changes that were committed before it',
  }),
  SEARCH_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of the features service without a wake-up signal',
  }),
  SEARCH_RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 0,
    default: 60_000,
    description:
      'milliseconds between reconciliations of search documents with the features service: of the versions of all, and of the next 1,000 features and 200 segments whole; 0 for none',
  }),
  MEILI_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'a Meilisearch server for fuzzy searches; without it PostgreSQL compares the texts',
    }),
  ),
  MEILI_KEY: Type.Optional(Type.String({ secret: true, description: 'a key of that server' })),
  MEILI_INDEX: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,200}$',
    default: 'features',
    description: 'name of the index; a rebuild uses another one with the suffix `_next`',
  }),
  MEILI_TIMEOUT_MS: Type.Integer({
    minimum: 10,
    default: 100,
    description: 'timeout of a fuzzy search in Meilisearch in milliseconds, after which PostgreSQL compares the texts',
  }),
  MEILI_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 500,
    description: 'milliseconds between updates of the index in Meilisearch with changed features',
  }),
  MEILI_CHECK_INTERVAL_MS: Type.Integer({
    minimum: 100,
    default: 5_000,
    description: 'milliseconds between checks that the index in Meilisearch was not lost or altered',
  }),
});
export type SearchConfig = Static<typeof SearchConfig>;
