import { randomUUID } from 'node:crypto';
import { Meilisearch } from 'meilisearch';

/** A real Meilisearch server for tests, and a unique index name on it. */
export interface RealServer {
  readonly url: string;
  readonly key?: string;
  readonly uid: string;
  /** Removes the indexes of the test. */
  leave(): Promise<void>;
}

/** The server at `MEILI_URL`. */
export function realServer(): RealServer {
  const { MEILI_URL: url, MEILI_KEY: key } = process.env;
  if (url === undefined || url === '') throw new Error('MEILI_URL is not set.');
  const uid = `bunting-test-${randomUUID()}`;
  const client = new Meilisearch({ host: url, ...(key === undefined ? {} : { apiKey: key }) });
  return {
    url,
    ...(key === undefined ? {} : { key }),
    uid,
    leave: async () => {
      for (const index of [uid, `${uid}_next`]) await client.deleteIndexIfExists(index);
    },
  };
}
