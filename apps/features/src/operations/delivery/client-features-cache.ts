import { type DeliveryScope, noSuchDeliveryEnvironment } from '@bunting/contracts';
import type { Revision } from '@bunting/outbox';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import type { ClientFeaturesReader } from '../../persistence/features/client-features-reader.ts';

/** The reply to an SDK, and its entity tag. */
export interface CachedClientFeatures {
  readonly tag: string;
  readonly json: string;
}

/** Returns the features that an SDK may evaluate: from the cache if no event since could have changed them. */
export type ClientFeaturesCache = (selection: DeliveryScope) => Promise<CachedClientFeatures>;

interface CacheEntry {
  readonly revision: Revision;
  readonly reply: Promise<CachedClientFeatures>;
  readonly settled?: CachedClientFeatures;
}

/** The query as the reply repeats it. */
const queryOf = ({ environment, projects, namePrefix, tags, inlineSegments }: DeliveryScope) => ({
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
  const cache = new LRUCache<string, CacheEntry>({
    maxSize: maxCharacters,
    // The latest reply is cached even if it alone exceeds the size.
    sizeCalculation: ({ settled }) => Math.min(maxCharacters, Math.max(1, settled?.json.length ?? 1)),
  });

  const load = async (
    selection: DeliveryScope,
    query: string,
    { position }: Revision,
    cached: CachedClientFeatures | undefined,
  ): Promise<CachedClientFeatures> => {
    const queryHash = hash('sha256', query, 'hex').slice(0, 8);
    const cachedTag = cached?.tag.slice(queryHash.length + 1);
    const found = await reader.all(selection, cachedTag);
    if (found === undefined) throw noSuchDeliveryEnvironment(selection.environment);
    if (cached !== undefined && found.features === undefined) return cached;
    const tag = `${queryHash}:${found.tag}`;
    const meta = JSON.stringify({ revisionId: position, etag: `"${tag}"`, queryHash });
    const segments = found.segments === undefined ? '' : `,"segments":${found.segments}`;
    return { tag, json: `{"version":2,"features":${found.features}${segments},"query":${query},"meta":${meta}}` };
  };

  return async (selection) => {
    const revision = await reader.revision();
    const key = JSON.stringify(queryOf(selection));
    const found = cache.get(key);
    if (found?.revision === revision) return found.reply;
    const entry: CacheEntry = { revision, reply: load(selection, key, revision, found?.settled) };
    cache.set(key, entry);
    try {
      const settled = await entry.reply;
      if (cache.peek(key) === entry) cache.set(key, { ...entry, settled });
      return settled;
    } catch (error) {
      if (cache.peek(key) === entry) cache.delete(key);
      throw error;
    }
  };
};
