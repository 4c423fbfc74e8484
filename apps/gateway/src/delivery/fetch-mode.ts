import { LRUCache } from 'lru-cache';
import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayConfig } from '../config.ts';

/** An SDK that polls in spite of this has failed to stream: it is left alone for as long, so that it gets features at all. */
const steeredForMs = 60 * 60_000;
const maxSteered = 20_000;
const maxIdLength = 100;
/** SDKs that know `fetch-mode` announce at least this version of the client specification. */
const steerableSpec = [5, 2] as const;

interface SteeredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const announcesSupport = (spec: string | string[] | undefined): boolean => {
  const [major = Number.NaN, minor = Number.NaN] = typeof spec === 'string' ? spec.split('.', 2).map(Number) : [];
  return major > steerableSpec[0] || (major === steerableSpec[0] && minor >= steerableSpec[1]);
};

/** Moves SDKs between polling and streaming, as `GATEWAY_SDK_FETCH_MODE` says. */
export const fetchModeSteering = ({ GATEWAY_SDK_FETCH_MODE: mode }: Pick<GatewayConfig, 'GATEWAY_SDK_FETCH_MODE'>) => {
  /** the ids of SDKs that were sent to the stream */
  const steered = new LRUCache<string, true>({ max: maxSteered, ttl: steeredForMs });
  const isToStream = (headers: IncomingHttpHeaders): boolean => {
    const id = headers['unleash-connection-id'];
    if (!announcesSupport(headers['unleash-client-spec'])) return false;
    if (typeof id !== 'string' || id === '' || id.length > maxIdLength || steered.has(id)) return false;
    steered.set(id, true);
    return true;
  };

  return {
    /** what a stream has after its first event */
    streamPreamble: mode === 'polling' ? 'event: fetch-mode\ndata: polling\n\n' : undefined,
    /**
     * Directs a polling SDK to the stream, in the mode `streaming`. The SDK ignores the body of such a response, so the response has no
     * entity tag: with one, a later poll would get 304 for a body that the SDK never read.
     */
    steer: <R extends SteeredResponse>(response: R, request: IncomingHttpHeaders): R => {
      if (mode !== 'streaming' || response.status !== 200 || !isToStream(request)) return response;
      const { etag: _, ...headers } = response.headers;
      return { ...response, headers: { ...headers, 'fetch-mode': 'streaming' } };
    },
  };
};
export type FetchModeSteering = ReturnType<typeof fetchModeSteering>;
