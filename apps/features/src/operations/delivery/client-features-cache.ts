import type { Revision } from '@bunting/outbox';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { type Delivered, noSuchDeliveryEnvironment } from '../../domain/delivery.ts';
import type { ClientFeaturesReader } from '../../persistence/features/client-features-reader.ts';

/** What an application is given. */
export interface CachedClientFeatures {
  readonly tag: string;
  readonly json: string;
}

/** Gives an application what is there now: made once, and then again only when something has changed. */
export type ClientFeaturesCache = (wanted: Delivered) => Promise<CachedClientFeatures>;

interface Kept {
  readonly revision: Revision;
  readonly making: Promise<CachedClientFeatures>;
  readonly made?: CachedClientFeatures;
}

/** What is asked for, in the words of the answer. */
const queryOf = ({ environment, projects, namePrefix, tags, inlineSegments }: Delivered) => ({
  environment,
  inlineSegmentConstraints: inlineSegments,
  ...(projects === undefined ? {} : { project: projects }),
  ...(namePrefix === undefined ? {} : { namePrefix }),
  ...(tags === undefined ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
});

/**
 * What is kept is judged anew by the database each time it is asked for, so that it needs no news and no clock to be right. The
 * tag is that of the content: a change elsewhere leaves it as it is, and every replica gives the same.
 * @param mostCharacters the size of the cache; the answers that were not used for the longest are evicted
 */
export const clientFeaturesCache = (reader: ClientFeaturesReader, mostCharacters: number): ClientFeaturesCache => {
  /** by the query */
  const cache = new LRUCache<string, Kept>({
    maxSize: mostCharacters,
    // The latest answer is cached although it alone exceeds the size.
    sizeCalculation: ({ made }) => Math.min(mostCharacters, Math.max(1, made?.json.length ?? 1)),
  });

  const make = async (
    wanted: Delivered,
    query: string,
    { position }: Revision,
    before: CachedClientFeatures | undefined,
  ): Promise<CachedClientFeatures> => {
    const queryHash = hash('sha256', query, 'hex').slice(0, 8);
    const known = before?.tag.slice(queryHash.length + 1);
    const found = await reader.all(wanted, known);
    if (found === undefined) throw noSuchDeliveryEnvironment(wanted.environment);
    if (before !== undefined && found.features === undefined) return before;
    const tag = `${queryHash}:${found.tag}`;
    const meta = JSON.stringify({ revisionId: position, etag: `"${tag}"`, queryHash });
    const segments = found.segments === undefined ? '' : `,"segments":${found.segments}`;
    return { tag, json: `{"version":2,"features":${found.features}${segments},"query":${query},"meta":${meta}}` };
  };

  return async (wanted) => {
    const revision = await reader.revision();
    const key = JSON.stringify(queryOf(wanted));
    const found = cache.get(key);
    if (found?.revision === revision) return found.making;
    const entry: Kept = { revision, making: make(wanted, key, revision, found?.made) };
    cache.set(key, entry);
    try {
      const made = await entry.making;
      if (cache.peek(key) === entry) cache.set(key, { ...entry, made });
      return made;
    } catch (error) {
      if (cache.peek(key) === entry) cache.delete(key);
      throw error;
    }
  };
};
