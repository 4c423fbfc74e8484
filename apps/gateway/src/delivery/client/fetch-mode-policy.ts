import { announcesClientSpec } from '@bunting/contracts';
import { LRUCache } from 'lru-cache';
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayConfig } from '../../config.ts';

/** Milliseconds until an SDK is directed to the stream again. One that still polls has failed to stream, and must be able to poll. */
const directedTtlMs = 60 * 60_000;
const maxDirectedSdks = 20_000;
const maxIdLength = 100;
/** The first version of the client specification with `fetch-mode`. */
const fetchModeSpec = [5, 2] as const;

interface PollResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Directs SDKs to polling or streaming, by `GATEWAY_SDK_FETCH_MODE`. */
export const fetchModePolicy = ({ GATEWAY_SDK_FETCH_MODE: mode }: Pick<GatewayConfig, 'GATEWAY_SDK_FETCH_MODE'>) => {
  /** the connection ids of SDKs that were directed to the stream */
  const directedIds = new LRUCache<string, true>({ max: maxDirectedSdks, ttl: directedTtlMs });
  /**
   * Records that an SDK is directed to the stream.
   * @returns false for an SDK without support for it, and for one that was directed recently
   */
  const recordDirected = (headers: IncomingHttpHeaders): boolean => {
    const id = headers['unleash-connection-id'];
    if (!announcesClientSpec(headers['unleash-client-spec'], fetchModeSpec)) return false;
    if (typeof id !== 'string' || id === '' || id.length > maxIdLength || directedIds.has(id)) return false;
    directedIds.set(id, true);
    return true;
  };

  return {
    /** the text that every stream sends after its first event, if any */
    streamPreamble: mode === 'polling' ? 'event: fetch-mode\ndata: polling\n\n' : undefined,
    /**
     * Directs a polling SDK to the stream, in the mode `streaming`. The SDK ignores the body of such a response, so the response has no
     * entity tag: with one, a later poll would get 304 for a body that the SDK never read.
     */
    directToStream: <R extends PollResponse>(response: R, request: IncomingHttpHeaders): R => {
      if (mode !== 'streaming' || response.status !== 200 || !recordDirected(request)) return response;
      const { etag: _, ...headers } = response.headers;
      return { ...response, headers: { ...headers, 'fetch-mode': 'streaming' } };
    },
  };
};
export type FetchModePolicy = ReturnType<typeof fetchModePolicy>;
