import type { Revision } from '@bunting/outbox';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { type Delivered, noSuchDeliveryEnvironment } from '../../domain/delivery.ts';
import type { ClientFeaturesReader } from '../../persistence/features/client-features-reader.ts';

/** The reply to an SDK, and its entity tag. */
export interface CachedClientFeatures {
  readonly tag: string;
  readonly json: string;
}

/** Returns the features that an SDK may evaluate: from the cache if no event since could have changed them. */
export type ClientFeaturesCache = (wanted: Delivered) => Promise<CachedClientFeatures>;

interface Kept {
  readonly revision: Revision;
  readonly making: Promise<CachedClientFeatures>;
  readonly made?: CachedClientFeatures;
}

/** The query as the reply repeats it. */
const queryOf = ({ environment, projects, namePrefix, tags, inlineSegments }: Delivered) => ({
  environment,
  inlineSegmentConstraints: inlineSegments,
  ...(projects === undefined ? {} : { project: projects }),
  ...(namePrefix === undefined ? {} : { namePrefix }),
  ...(tags === undefined ? {} : { tag: tags.map(({ type, value }) => [type, value]) }),
});

/**
 * Caches replies to SDKs. Each look-up reads the revision of the database, so an entry is never stale and needs neither a TTL nor
 * invalidation. Concurrent look-ups of one query share its computation. The entity tag is a hash of the content: edits elsewhere do not
 * change it, and it is the same in all replicas.
 * @param maxCharacters the size of the cache; the least recently used replies are evicted
 */
export const clientFeaturesCache = (reader: ClientFeaturesReader, maxCharacters: number): ClientFeaturesCache => {
  /** by the query */
  const cache = new LRUCache<string, Kept>({
    maxSize: maxCharacters,
    // The latest reply is cached even if it alone exceeds the size.
    sizeCalculation: ({ made }) => Math.min(maxCharacters, Math.max(1, made?.json.length ?? 1)),
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
