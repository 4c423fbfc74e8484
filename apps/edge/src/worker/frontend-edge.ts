import type { ClientFeature, ErrorKind, FrontendBody, OfrepErrorCode, OfrepEvaluationBody } from '@bunting/contracts';
import { staleHeader } from '@bunting/contracts';
import {
  compileEvaluator,
  contextFieldsOfBody,
  contextFieldsOfOfrep,
  contextFieldsOfQuery,
  type EvaluationContext,
  type Evaluator,
  frontendFeature,
  isOfrepFailure,
  ofrepResult,
} from '@bunting/evaluation';
import { covers, scopeKeyOf } from '../token-scope.ts';
import { type Contents, readFeature, readFullAnswer } from '../upstream/contents.ts';
import { OriginError } from '../upstream/origin-error.ts';
import { restorationWatch } from '../upstream/restored-origin.ts';
import { validateTokens, type ValidToken } from '../upstream/validate-tokens.ts';
import { fetchOrigin } from './fetch-origin.ts';
import { type InBackground, kept, type TextStore, type Waiting } from './kept.ts';

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

/** What an origin delivers to a client token, compiled at the first use. */
interface Flags {
  readonly contents: Contents<ClientFeature>;
  readonly evaluators: Map<string, Evaluator>;
}

const possibleToken = /^[\x21-\x7e]{1,512}$/;
/** Maximum tokens of browsers that an instance knows, and that it knows to be invalid. */
const maxTokens = 10_000;
const refusedForMs = 30_000;
const originTimeoutMs = 30_000;
/** How long what is stored is of use. */
const storedHours = 24;
/** Maximum unknown tokens that are being validated. */
const maxValidations = 50;
/** What OpenFeature clients and SDKs send is far shorter. */
const maxBodyLength = 256 * 1024;
/** As an edge believes an older origin (ADR 43). */
const restoration = { olderAnswers: 5, olderForMs: 5_000 };
const clientSpec = '5.2.0';

const statuses: Readonly<Partial<Record<ErrorKind, number>>> = {
  ValidationError: 400,
  AuthenticationRequired: 401,
  NoAccessError: 403,
  NotFoundError: 404,
  PayloadTooLarge: 413,
  ServiceUnavailable: 503,
};

/** A request that is not answered, and why. */
class Refused extends Error {
  readonly kind: ErrorKind;
  readonly code: OfrepErrorCode;
  constructor(kind: ErrorKind, message: string, code: OfrepErrorCode = 'GENERAL') {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `${staleHeader}, ETag, Retry-After`,
};
const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers':
    'Accept, Authorization, Content-Type, If-None-Match, Unleash-AppName, Unleash-Client-Spec, Unleash-Connection-Id, Unleash-SDK, X-API-Key',
  'access-control-max-age': '600',
};

async function digestOf(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    status,
    headers: {
      ...corsHeaders,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      ...headers,
    },
  });
}

function refusedResponse(error: unknown, ofrep: { readonly key: string | undefined } | undefined): Response {
  const { kind, message, code } =
    error instanceof Refused
      ? error
      : error instanceof OriginError
        ? new Refused(
            'ServiceUnavailable',
            'The origin cannot be asked, and there are no flags of it here. Please try again.',
          )
        : new Refused('InternalError', 'This edge has failed to answer.');
  const { key } = ofrep ?? {};
  const ofrepMembers = { ...(key === undefined ? {} : { key }), errorCode: code, errorDetails: message };
  const body = { id: crypto.randomUUID(), name: kind, message, details: [{ message }] };
  const status = statuses[kind] ?? 500;
  return json(
    status,
    JSON.stringify(ofrep === undefined ? body : { ...body, ...ofrepMembers }),
    status === 503 ? { 'retry-after': '1' } : {},
  );
}

/** @throws Refused where it is longer than `maxBodyLength`, or no JSON object */
async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > maxBodyLength) throw new Refused('PayloadTooLarge', `A body has at most ${maxBodyLength} bytes.`);
    text += decoder.decode(piece, { stream: true });
  }
  try {
    const body: unknown = JSON.parse(text + decoder.decode());
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return body as Readonly<Record<string, unknown>>;
  } catch {
    // Refused below.
  }
  throw new Refused('ValidationError', 'The body is no JSON object.', 'PARSE_ERROR');
}

/** The body of an evaluation. @throws Refused where its context is no object */
async function evaluationBodyOf(request: Request): Promise<FrontendBody & OfrepEvaluationBody> {
  const body = await bodyOf(request);
  const { context } = body;
  if (context !== undefined && (typeof context !== 'object' || Array.isArray(context)))
    throw new Refused('ValidationError', 'The context is no object.', 'INVALID_CONTEXT');
  return body;
}

function serializeContents(contents: Flags['contents']): string {
  const { features, segments, ...rest } = contents;
  return JSON.stringify({ ...rest, features: [...features], segments: [...segments] });
}

function parseContents(text: string): Flags['contents'] {
  const { features, segments, ...rest } = JSON.parse(text) as Omit<Flags['contents'], 'features' | 'segments'> & {
    readonly features: never;
    readonly segments: never;
  };
  return { ...rest, features: new Map(features), segments: new Map(segments) };
}

/** @throws Refused for a name that is not encoded as in a URL */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new Refused('ValidationError', 'The name of the flag is not encoded as in a URL.');
  }
}

/** Tells whether something was so three times in a row, over three seconds: no single answer ends what is served. */
function repeatedly() {
  let [count, since] = [0, 0];
  return (isSo: boolean): boolean => {
    if (count === 0) since = Date.now();
    count = isSo ? count + 1 : 0;
    return count >= 3 && Date.now() - since >= 3_000;
  };
}

/** Removes the oldest entries of a map beyond a number. */
function limit(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
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
  const common = {
    refreshMs,
    maxAgeMs: 4 * refreshMs,
    retryMs: 1_000,
    readingMs: originTimeoutMs + 5_000,
    store,
    storedMs: storedHours * 3_600_000,
  };
  const isRefused = (error: unknown): boolean => error instanceof OriginError && error.fault === 'refused';

  const followed = new Map<string, ReturnType<typeof flagsFor>>();
  /** The flags of a client token. */
  const flagsFor = (token: string, key: string) => {
    const watch = restorationWatch(restoration, () => Date.now());
    const isGivenUp = repeatedly();
    const read = async (held: Flags | undefined) => {
      const answer = await origin.get({
        path: '/api/client/features',
        token,
        headers: {
          'unleash-client-spec': clientSpec,
          'unleash-sdk': 'bunting-edge',
          ...(held?.contents.entityTag == null ? {} : { 'if-none-match': held.contents.entityTag }),
        },
      });
      isGivenUp(false);
      if (answer.status === 304 && held !== undefined) {
        watch.seen();
        return { value: held, staleMs: answer.staleMs };
      }
      const contents = readFullAnswer(
        answer.body,
        { entityTag: answer.headers.get('etag'), held: held?.contents },
        readFeature,
      );
      // A replica that lags must not take users back (ADR 43).
      if (held !== undefined && contents.revision < held.contents.revision && !watch.seenOlder())
        throw new OriginError('failing', 'its answer is older than the one before');
      watch.seen();
      return { value: { contents, evaluators: new Map() }, staleMs: answer.staleMs };
    };
    return kept<Flags>({
      ...common,
      key: `flags:${key}`,
      read,
      isLost: (error) => isRefused(error) && isGivenUp(true),
      serialize: ({ contents }) => serializeContents(contents),
      parse: (text) => ({ contents: parseContents(text), evaluators: new Map() }),
    });
  };

  /** What a token is for; `undefined` where the origin does not call it valid. */
  const scopeFor = (token: string, key: string) => {
    const isGivenUp = repeatedly();
    return kept<{ readonly scope: ValidToken | undefined }>({
      ...common,
      refreshMs: revalidateMs,
      maxAgeMs: 4 * revalidateMs,
      key: `token:${key}`,
      read: async (held) => {
        const [scope] = await validateTokens(origin, [token]);
        // SDKs give up for ever on a 401: one answer is not enough to end a token.
        if (scope === undefined && held?.scope !== undefined && !isGivenUp(true))
          throw new OriginError('failing', 'it does not call the token valid any more');
        if (scope !== undefined) isGivenUp(false);
        const isSame = held !== undefined && JSON.stringify(scope) === JSON.stringify(held.scope);
        return { value: isSame ? held : { scope }, staleMs: 0 };
      },
      isLost: () => false,
      // The store has no secrets.
      serialize: ({ scope }) => (scope === undefined ? undefined : JSON.stringify({ ...scope, token: undefined })),
      parse: (text) => ({ scope: { ...(JSON.parse(text) as ValidToken), token } }),
    });
  };

  /** by client token of the settings */
  const own = new Map<string, ReturnType<typeof scopeFor>>();
  /** by token of a browser */
  const known = new Map<string, ReturnType<typeof scopeFor>>();
  const refused = new Map<string, number>();
  let validations = 0;

  const scopeOf = async (
    map: Map<string, ReturnType<typeof scopeFor>>,
    token: string,
    waiting: Waiting,
  ): Promise<ValidToken | undefined> => {
    let entry = map.get(token);
    if (entry === undefined) map.set(token, (entry = scopeFor(token, await digestOf(token))));
    return (await entry(waiting)).value.scope;
  };

  /** What the token of a browser is for. @throws Refused, or what asking the origin threw */
  const identify = async (token: string, waiting: Waiting): Promise<ValidToken> => {
    const invalid = new Refused(
      'AuthenticationRequired',
      'The key in the authorization header is missing or not valid.',
    );
    if (!possibleToken.test(token) || (refused.get(token) ?? 0) > Date.now()) throw invalid;
    const isNew = !known.has(token);
    if (isNew && validations >= maxValidations)
      throw new Refused('ServiceUnavailable', 'Too many unknown keys wait to be validated. Please try again.');
    if (isNew) validations++;
    try {
      const scope = await scopeOf(known, token, waiting);
      limit(known, maxTokens);
      if (scope !== undefined) return scope;
      known.delete(token);
      refused.set(token, Date.now() + refusedForMs);
      limit(refused, maxTokens);
      throw invalid;
    } catch (error) {
      if (isNew) known.delete(token);
      throw error;
    } finally {
      if (isNew) validations--;
    }
  };

  /** The flags that a frontend token gets, with the evaluator of its projects. */
  const evaluationFor = async (
    scope: ValidToken,
    scopes: readonly PromiseSettledResult<ValidToken | undefined>[],
    waiting: Waiting,
  ) => {
    const source = tokens.find((_, nth) => {
      const one = scopes[nth];
      return one?.status === 'fulfilled' && one.value?.type === 'client' && covers(one.value, scope);
    });
    if (source === undefined) {
      const unknown = scopes.find((one) => one.status === 'rejected');
      if (unknown !== undefined) throw unknown.reason;
      throw new Refused(
        'ServiceUnavailable',
        `No client token of this edge is for the environment ${scope.environment} and the projects of the key.`,
      );
    }
    let flags = followed.get(source);
    if (flags === undefined) followed.set(source, (flags = flagsFor(source, await digestOf(source))));
    const { value, confirmedAt, originStaleMs } = await flags(waiting);
    const { features, segments } = value.contents;
    const key = scopeKeyOf(scope);
    let evaluator = value.evaluators.get(key);
    if (evaluator === undefined) {
      const included = [...features.values()].filter(
        ({ project }) => scope.projects.includes('*') || scope.projects.includes(project),
      );
      // A list by reference is for edges that ask for it: the constraint that stands for it matches nobody.
      const withoutLists = [...segments.values()].map(({ id, constraints }) => ({ id, constraints }));
      evaluator = compileEvaluator(included, withoutLists);
      value.evaluators.set(key, evaluator);
    }
    const staleMs = Date.now() - confirmedAt;
    // Between two questions flags are as new as those of an edge that polls.
    const isStale = originStaleMs > 0 || staleMs >= common.maxAgeMs;
    return { evaluator, headers: isStale ? { [staleHeader]: String(staleMs) } : undefined };
  };

  const withTag = async (request: Request, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const tag = `"${await digestOf(body)}"`;
    const tags = (request.headers.get('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
    if (tags.includes(tag))
      return new Response(null, { status: 304, headers: { ...corsHeaders, ...headers, etag: tag } });
    return json(200, body, { ...headers, etag: tag });
  };

  const answer = async (
    request: Request,
    path: string,
    { address, inBackground = () => undefined }: FrontendRequestOptions,
  ): Promise<Response> => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/health' && isRead) return json(200, '{"health":"GOOD"}');
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
    const scopesOfOwn = Promise.allSettled(tokens.map((token) => scopeOf(own, token, waiting)));
    const scope = await identify(header.replace(/^bearer +/i, '').trim(), waiting);
    if (scope.type !== 'frontend') throw new Refused('NoAccessError', 'The key is not one of a frontend.');
    if (report !== undefined) {
      const body = await bodyOf(request);
      // The environment is that of the token.
      inBackground(
        origin.report(report, scope.token, { ...body, environment: scope.environment }).catch(() => undefined),
      );
      return new Response('OK', {
        headers: { ...corsHeaders, 'content-type': 'text/plain; charset=utf-8' },
      });
    }
    const body = isPost ? await evaluationBodyOf(request) : undefined;
    const { evaluator, headers } = await evaluationFor(scope, await scopesOfOwn, waiting);
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
      return isPost ? json(200, text, headers) : withTag(request, text, headers);
    }
    const context = contextOf(contextFieldsOfOfrep(body ?? {}, scope.environment, address));
    if (flagKey === undefined)
      return withTag(request, JSON.stringify({ flags: evaluator.resolveAll(context).map(ofrepResult) }), headers);
    const key = decoded(flagKey);
    const resolution = evaluator.resolve(key, context);
    if (resolution === undefined)
      throw new Refused('NotFoundError', `Could not find feature flag ${key.slice(0, 200)}`, 'FLAG_NOT_FOUND');
    const result = ofrepResult(resolution);
    return json(isOfrepFailure(result) ? 400 : 200, JSON.stringify(result), headers);
  };

  return async (request: Request, requestOptions: FrontendRequestOptions = {}): Promise<Response> => {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders });
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
