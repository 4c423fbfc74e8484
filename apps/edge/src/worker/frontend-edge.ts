import {
  contextFieldsOfBody,
  contextFieldsOfOfrep,
  contextFieldsOfQuery,
  type EvaluationContext,
  frontendFeature,
  isOfrepFailure,
  ofrepResult,
} from '@bunting/evaluation';
import { DeliveredFlags } from './delivered-flags.ts';
import { fetchOrigin } from './fetch-origin.ts';
import type { InBackground, KeepingOptions, TextStore, Waiting } from './kept.ts';
import { bodyOf, evaluationBodyOf } from './request-body.ts';
import {
  acceptedResponse,
  jsonResponse,
  preflightResponse,
  Refused,
  refusedResponse,
  taggedResponse,
} from './responses.ts';
import { TokenScopes } from './token-scopes.ts';

/** Times are milliseconds. */
export interface FrontendEdgeOptions {
  /** the origin: Bunting, Unleash or an edge */
  readonly upstreamUrl: string;
  /** client tokens; a frontend token is served from what one of them gets, whose environment is the same and whose projects include its own */
  readonly tokens: readonly string[];
  /** the name of the header that carries tokens to the origin; default: `authorization` */
  readonly tokenHeader?: string;
  /** how old flags are before they are asked for again; default: 15,000 */
  readonly refreshMs?: number;
  /** how old the answer is that a token is valid, before the origin is asked again; default: 60,000 */
  readonly revalidateMs?: number;
  /** how long a response waits for the origin, where there is nothing to serve, or nothing newer than four times `refreshMs`; default: 5,000 */
  readonly waitMs?: number;
  /** the most bytes of an answer of the origin; default: 32 MiB */
  readonly maxAnswerBytes?: number;
  /** keeps flags and tokens, so that an instance that begins while the origin is away has them */
  readonly store?: TextStore;
}

export interface FrontendRequestOptions {
  /** the IP address of the user, for constraints and strategies on it */
  readonly address?: string | undefined;
  readonly inBackground?: InBackground | undefined;
}

const originTimeoutMs = 30_000;
/** How long what is stored is of use. */
const storedHours = 24;
const maxSdkLength = 255;

/** @throws Refused for a name that is not encoded as in a URL */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new Refused('ValidationError', 'The name of the flag is not encoded as in a URL.');
  }
}

/**
 * An edge for browsers and apps, for runtimes of the web platform such as Cloudflare Workers and Deno: it answers `/api/frontend` (and
 * `/api/proxy`) and the bulk and single evaluations of OFREP from flags that it keeps in memory, and passes registrations and counts on.
 * @returns a function that responds to a request; it never rejects
 */
export function frontendEdge(options: FrontendEdgeOptions) {
  const { upstreamUrl, tokens, tokenHeader = 'authorization', refreshMs = 15_000, waitMs = 5_000, store } = options;
  const { revalidateMs = 60_000 } = options;
  const origin = fetchOrigin({
    upstreamUrl,
    tokenHeader,
    maxBytes: options.maxAnswerBytes ?? 32 * 1024 * 1024,
    timeoutMs: originTimeoutMs,
  });
  const keepingFor = (ms: number): KeepingOptions => ({
    refreshMs: ms,
    maxAgeMs: 4 * ms,
    retryMs: 1_000,
    readingMs: originTimeoutMs + 5_000,
    store,
    storedMs: storedHours * 3_600_000,
  });
  const scopes = new TokenScopes(origin, keepingFor(revalidateMs));
  const flags = new DeliveredFlags(tokens, origin, keepingFor(refreshMs));

  const answer = async (
    request: Request,
    path: string,
    { address, inBackground = () => undefined }: FrontendRequestOptions,
  ): Promise<Response> => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/health' && isRead) return jsonResponse(200, '{"health":"GOOD"}');
    const isPost = request.method === 'POST';
    const flagKey = /^\/ofrep\/v1\/evaluate\/flags\/([^/]+)$/.exec(path)?.[1];
    const isBulk = path === '/ofrep/v1/evaluate/flags';
    const report = /^\/api\/frontend\/client\/(?:metrics|register)$/.exec(path)?.[0];
    const isFrontend = path === '/api/frontend';
    const isKnown =
      (isFrontend && (isRead || isPost)) || (isPost && (isBulk || flagKey !== undefined || report !== undefined));
    if (!isKnown) throw new Refused('NotFoundError', `${request.method} ${path} is not answered by this edge.`);

    const header = request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? '';
    const waiting: Waiting = { inBackground, until: Date.now() + waitMs };
    const scopesOfOwn = scopes.ofOwn(tokens, waiting);
    const scope = await scopes.identify(header.replace(/^bearer +/i, '').trim(), waiting);
    if (scope.type !== 'frontend') throw new Refused('NoAccessError', 'The key is not one of a frontend.');
    if (report !== undefined) {
      const sdk = request.headers.get('unleash-sdk')?.slice(0, maxSdkLength);
      // Browsers say their SDK in a header, for a body that does not. The environment is that of the token.
      const sdkVersion = sdk === undefined ? {} : { sdkVersion: sdk };
      const body = { ...sdkVersion, ...(await bodyOf(request)), environment: scope.environment };
      inBackground(origin.report(report, scope.token, body).catch(() => undefined));
      return acceptedResponse();
    }
    const body = isPost ? await evaluationBodyOf(request) : undefined;
    const { evaluator, headers } = await flags.evaluationFor(scope, await scopesOfOwn, waiting);
    const contextOf = (fields: EvaluationContext['fields']): EvaluationContext => ({
      fields,
      now: new Date(),
      random: Math.random,
    });
    if (isFrontend) {
      const query = Object.fromEntries(new URL(request.url).searchParams);
      const fields =
        body === undefined
          ? contextFieldsOfQuery(
              { ...query, ...(address === undefined ? {} : { callerAddress: address }) },
              scope.environment,
            )
          : contextFieldsOfBody(body, scope.environment, address);
      const text = JSON.stringify({ toggles: evaluator.active(contextOf(fields)).map(frontendFeature) });
      return isPost ? jsonResponse(200, text, headers) : taggedResponse(request, text, headers);
    }
    const context = contextOf(contextFieldsOfOfrep(body ?? {}, scope.environment, address));
    if (flagKey === undefined)
      return taggedResponse(
        request,
        JSON.stringify({ flags: evaluator.resolveAll(context).map(ofrepResult) }),
        headers,
      );
    const key = decoded(flagKey);
    const resolution = evaluator.resolve(key, context);
    if (resolution === undefined)
      throw new Refused('NotFoundError', `Could not find feature flag ${key.slice(0, 200)}`, 'FLAG_NOT_FOUND');
    const result = ofrepResult(resolution);
    return jsonResponse(isOfrepFailure(result) ? 400 : 200, JSON.stringify(result), headers);
  };

  return async (request: Request, requestOptions: FrontendRequestOptions = {}): Promise<Response> => {
    if (request.method === 'OPTIONS') return preflightResponse();
    const { pathname } = new URL(request.url);
    const path = pathname.replace(/\/+$/, '').replace(/^\/api\/proxy(?=\/|$)/, '/api/frontend');
    try {
      return await answer(request, path, requestOptions);
    } catch (error) {
      const ofrepKey = /^\/ofrep\/v1\/evaluate\/flags\/?([^/]*)$/.exec(path)?.[1];
      const ofrep = ofrepKey === undefined ? undefined : { key: ofrepKey === '' ? undefined : ofrepKey };
      return refusedResponse(error, ofrep);
    }
  };
}
