import { databaseSettings } from '@bunting/runtime';
import { type Static, Type } from 'typebox';

/** Everything that the search service reads from its environment. */
export const SearchConfig = Type.Object({
  ...databaseSettings('SEARCH'),
  SEARCH_FRESHNESS_WAIT_MS: Type.Integer({
    minimum: 0,
    default: 1_000,
    description: 'milliseconds that a search waits at most for changes that were committed before it',
  }),
  SEARCH_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description: 'milliseconds between polls of the features service; a commit announces itself',
  }),
  SEARCH_RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 0,
    default: 60_000,
    description: 'milliseconds between comparisons of what is searched with what there is; 0 for none',
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
    description: 'name of the index there; another one with `_next` behind it is used while it is built again',
  }),
  MEILI_TIMEOUT_MS: Type.Integer({
    minimum: 10,
    default: 500,
    description: 'milliseconds that Meilisearch may take for a fuzzy search before PostgreSQL compares the texts',
  }),
  MEILI_POLL_INTERVAL_MS: Type.Integer({
    minimum: 10,
    default: 5_000,
    description:
      'milliseconds between polls for changed names and tags: how far the index in Meilisearch may be behind',
  }),
  MEILI_CHECK_INTERVAL_MS: Type.Integer({
    minimum: 100,
    default: 30_000,
    description: 'milliseconds between checks that the index in Meilisearch was not lost or altered',
  }),
});
export type SearchConfig = Static<typeof SearchConfig>;
