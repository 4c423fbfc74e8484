import { type AnyOperation, type IfMatchTarget, type ReplyOf, type RequestOf, staleHeader } from '@bunting/contracts';
import { ApiError, errorOfResponse } from './api-error.ts';
import { rememberWrite } from './last-write.ts';
import { compareClocks } from './server-clock.ts';
import {
  signInCount,
  signInOfferOf,
  pendingSignInOffer,
  refusesWrites,
  waitForSignIn,
  authorizationHeader,
} from './pending-sign-in.ts';
import { basePath } from '../base-path.ts';
import { createStore } from '../store.ts';

/** The member `K` of a request, which is optional when all of its properties are. */
type RequestPart<K extends string, S> = undefined extends S
  ? { readonly [name in K]?: S }
  : Record<never, never> extends S
    ? { readonly [name in K]?: S }
    : { readonly [name in K]: S };

/**
 * The entity tag that the resource must still have: 412 (`PreconditionFailed`) when it has changed. Where an operation supports it, a caller
 * says by `undefined` that it overwrites nothing that it has not read, such as one that turns a switch.
 */
type IfMatchPart<O extends AnyOperation> = O extends { readonly ifMatch: IfMatchTarget }
  ? { readonly ifMatch: string | undefined }
  : { readonly ifMatch?: string | undefined };

/** What a call needs: the operation's own parameters, query and body. */
export type CallRequest<O extends AnyOperation> = RequestPart<'params', RequestOf<O>['params']> &
  RequestPart<'query', RequestOf<O>['query']> &
  RequestPart<'body', RequestOf<O>['body']> & {
    readonly signal?: AbortSignal | undefined;
  } & IfMatchPart<O>;

export interface WithEntityTag<T> {
  readonly value: T;
  /** for `ifMatch` of a later write; undefined where the response has none */
  readonly entityTag?: string | undefined;
}

/** Milliseconds by which the last response was stale, from its `Bunting-Stale` header; 0 when it was current. */
export const responseStalenessStore = createStore(0);

interface RawRequest {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** JSON, or a file, which is sent as it is with its type */
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The path and query of a call. @throws Error when a path parameter is missing */
export function urlOf({ http, operationId }: AnyOperation, { params = {}, query = {} }: RawRequest): string {
  if (http === undefined) throw new Error(`${operationId} is not part of the REST API.`);
  const path = http.url.replace(/:(\w+)/g, (_match, name: string) => {
    const value = params[name];
    if (value === undefined || value === '') throw new Error(`${operationId} needs the parameter ${name}.`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item !== undefined && item !== null) search.append(name, String(item));
    }
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** A random key that makes a write safe to retry. `crypto.randomUUID` exists on secure origins only. */
function idempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function parseBody(response: Response): Promise<unknown> {
  if (response.status === 204 || response.headers.get('content-length') === '0') return null;
  const type = response.headers.get('content-type') ?? '';
  // The sign-in of a network says 200 to everything, also to what was to be saved. Bunting has no page at the addresses of the API.
  if (response.ok && type.startsWith('text/html'))
    throw new ApiError(
      'UnexpectedResponse',
      'Something else has answered instead of Bunting, such as the sign-in of a network. Open another page to get past it, and try again.',
      { status: response.status },
    );
  const text = await response.text();
  if (!/\bjson\b/.test(type)) return text;
  if (text === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ApiError('UnexpectedResponse', 'The response is not valid JSON.', { status: response.status });
  }
}

interface ApiResponse {
  readonly response: Response;
  readonly body: unknown;
}

/**
 * Milliseconds without the head of a response after which the connection of a read counts as lost, such as when the computer has slept: the
 * gateway answers earlier, if only that it cannot. A write waits, since what has become of it is not known.
 */
const maxSilenceMs = 30_000;

async function fetchResponse(url: string, { signal, ...init }: RequestInit): Promise<ApiResponse> {
  const connection = new AbortController();
  const abort = (): void => connection.abort();
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort);
  const silence = init.method === 'GET' ? setTimeout(abort, maxSilenceMs) : undefined;
  try {
    const response = await fetch(`${basePath}${url}`, { ...init, signal: connection.signal });
    clearTimeout(silence);
    compareClocks(response);
    return { response, body: await parseBody(response) };
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted === true) throw error;
    throw new ApiError('Offline', 'There is no connection to Bunting.');
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', abort);
  }
}

/** Sends one request to the gateway. The response may have any status. @throws ApiError without a response, or with one of invalid JSON */
export function send(
  method: string,
  url: string,
  { body, ifMatch, signal }: RawRequest = {},
  key?: string,
): Promise<ApiResponse> {
  return fetchResponse(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': body instanceof Blob ? body.type : 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...authorizationHeader(),
    },
    credentials: 'same-origin',
    cache: 'no-store',
    ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/**
 * Sends one request and returns the body of its response. A 401 is an error and shows no sign-in form: the sign-in itself calls this.
 * @throws ApiError
 */
export async function sendOnce(method: string, url: string, request: RawRequest = {}): Promise<unknown> {
  const { response, body } = await send(method, url, request);
  if (!response.ok) throw errorOfResponse(response, body);
  return body;
}

/**
 * Sends a request to the gateway. A 401 shows the sign-in form, and the request is sent again after it; immediately where the user has
 * signed in meanwhile. @param isWrite whether it changes something, and can be sent twice only with a key @throws ApiError
 */
export async function sendAfterSignIn(
  method: string,
  url: string,
  request: RawRequest = {},
  isWrite = method !== 'GET',
): Promise<ApiResponse> {
  const key = isWrite ? idempotencyKey() : undefined;
  for (;;) {
    if (isWrite && refusesWrites())
      throw new ApiError(
        'UnexpectedResponse',
        'Another user has signed in in this browser. Copy what you have entered, and load the page again.',
      );
    // While the sign-in form is shown, further calls would only get a 401 as well.
    const offer = pendingSignInOffer.get();
    if (offer !== undefined) await waitForSignIn(offer, request.signal);
    const signInsBefore = signInCount();
    const sentAt = performance.now();
    const received = await send(method, url, request, key);
    if (received.response.ok) {
      if (key !== undefined) rememberWrite(received.response, performance.now() - sentAt);
      responseStalenessStore.set(Number(received.response.headers.get(staleHeader) ?? 0));
      return received;
    }
    const error = errorOfResponse(received.response, received.body);
    // Other errors with status 401 concern a link or a password in the request.
    if (error.kind !== 'AuthenticationRequired') throw error;
    if (signInCount() === signInsBefore) await waitForSignIn(signInOfferOf(received.body), request.signal);
  }
}

/** Calls an operation and returns its reply with the entity tag. @throws ApiError */
export async function callWithEntityTag<O extends AnyOperation>(
  operation: O,
  request: CallRequest<O>,
): Promise<WithEntityTag<ReplyOf<O>>> {
  const { http: { method } = { method: 'GET' }, readsOnly } = operation;
  const isWrite = method !== 'GET' && readsOnly !== true;
  const { response, body } = await sendAfterSignIn(method, urlOf(operation, request), request, isWrite);
  return { value: body as ReplyOf<O>, entityTag: response.headers.get('etag') ?? undefined };
}

/** Calls an operation and returns its reply. @throws ApiError */
export async function call<O extends AnyOperation>(operation: O, request: CallRequest<O>): Promise<ReplyOf<O>> {
  return (await callWithEntityTag(operation, request)).value;
}
