import { faultOf, isJson, staleMsOf } from '../upstream/answer-head.ts';
import type { OriginRequest } from '../upstream/origin-client.ts';
import { OriginError } from '../upstream/origin-error.ts';

export interface FetchOriginOptions {
  /** with a base path, if the origin has one */
  readonly upstreamUrl: string;
  /** the name of the header that carries the token */
  readonly tokenHeader: string;
  /** the most bytes of an answer */
  readonly maxBytes: number;
  /** until an answer is complete */
  readonly timeoutMs: number;
}

export interface FetchedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** milliseconds since the origin last knew its data to be current; 0 where it is */
  readonly staleMs: number;
}

/** @throws OriginError `unusable` where it is longer than `maxBytes`, or no JSON */
async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  if (!isJson(response)) throw new OriginError('unusable', 'its answer is not JSON');
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBytes) throw new OriginError('unusable', `its answer is longer than ${maxBytes} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    throw new OriginError('unusable', 'its answer is no complete JSON');
  }
}

/** Requests to an origin by the `fetch` of the web platform. Redirects are not followed: they would carry the token elsewhere. */
export function fetchOrigin({ upstreamUrl, tokenHeader, maxBytes, timeoutMs }: FetchOriginOptions) {
  const base = upstreamUrl.replace(/\/+$/, '');

  /** @throws OriginError */
  const request = async ({ path, token, headers, json }: OriginRequest): Promise<FetchedAnswer> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${base}${path}`, {
        signal,
        redirect: 'manual',
        method: json === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { [tokenHeader]: token }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const fault = faultOf(response);
      const hasBody = fault === undefined && (response.status === 200 || response.status === 201);
      const body = hasBody ? await readJson(response, maxBytes) : void (await response.body?.cancel());
      if (fault !== undefined) throw fault;
      return { status: response.status, headers: response.headers, body, staleMs: staleMsOf(response) };
    } catch (error) {
      if (error instanceof OriginError) throw error;
      const reason = signal.aborted ? `it took longer than ${timeoutMs} ms` : (error as Error).message;
      throw new OriginError('unreachable', reason);
    }
  };

  return {
    get: request,
    ask: request,
    /** Sends what has no answer in JSON, once. @throws OriginError */
    report: async (path: string, token: string, json: unknown): Promise<void> => {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'manual',
        headers: { 'content-type': 'application/json', [tokenHeader]: token },
        body: JSON.stringify(json),
      });
      await response.body?.cancel();
      const fault = faultOf(response);
      if (fault !== undefined) throw fault;
    },
  };
}
export type FetchOrigin = ReturnType<typeof fetchOrigin>;
