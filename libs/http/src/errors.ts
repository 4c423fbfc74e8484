import type { IncomingMessage } from 'node:http';
import { defectRefusal, type RefusalResponse, serializeRefusal } from '@bunting/bus';
import {
  type ErrorBody,
  type ErrorKind,
  type OfrepErrorCode,
  type Problem,
  Refusal,
  refusal,
} from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPathBelow } from './request/head.ts';

export function isOfrepRequest({ raw: { url = '' } }: FastifyRequest): boolean {
  return isPathBelow('/ofrep', url);
}

function codeOf(status: number, { details: [detail] = [] }: ErrorBody, key: string | undefined): OfrepErrorCode {
  if (status === 404 && key !== undefined) return 'FLAG_NOT_FOUND';
  if (status !== 400 || detail?.path?.startsWith('/body') !== true) return 'GENERAL';
  return detail.path.startsWith('/body/context') ? 'INVALID_CONTEXT' : 'PARSE_ERROR';
}

/** An error with the members of the OpenFeature Remote Evaluation Protocol besides its own. */
export function ofrepErrorOf(
  { params }: FastifyRequest,
  status: number,
  error: ErrorBody,
  code?: OfrepErrorCode,
): ErrorBody & { readonly key?: string; readonly errorCode: OfrepErrorCode; readonly errorDetails: string } {
  const { key } = (params ?? {}) as { readonly key?: string };
  return {
    ...error,
    ...(key === undefined ? {} : { key }),
    errorCode: code ?? codeOf(status, error, key),
    errorDetails: error.message,
  };
}

/**
 * The preference for a media type by a range of an `Accept` header: its quality, and how precisely the range names the type (0 to 2, -1:
 * not).
 */
interface Preference {
  readonly quality: number;
  readonly precision: number;
}

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (name.trim().toLowerCase() !== 'q') continue;
    const quality = Number(value.trim() === '' ? Number.NaN : value);
    return quality >= 0 && quality <= 1 ? quality : 0;
  }
  return 1;
}

function preferenceFor(type: string, ranges: readonly string[]): Preference {
  const [family] = type.split('/', 1);
  let best: Preference = { quality: 0, precision: -1 };
  for (const item of ranges) {
    const [name = '', ...parameters] = item.split(';');
    const range = name.trim().toLowerCase();
    const precision = range === type ? 2 : range === `${family}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (precision > best.precision) best = { quality: qualityOf(parameters), precision };
  }
  return best;
}

/** Maximum characters of an `Accept` header that is parsed; a longer one is ignored. */
const maxAcceptLength = 4_096;

/**
 * True when a client wants errors as `application/problem+json`: it names that type with at least the quality of plain JSON. A client that
 * accepts any type gets plain JSON.
 */
export function acceptsProblemJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > maxAcceptLength || !accept.toLowerCase().includes('problem+json'))
    return false;
  const ranges = accept.split(',');
  const problem = preferenceFor('application/problem+json', ranges);
  const plain = preferenceFor('application/json', ranges);
  if (problem.precision < 2 || problem.quality === 0) return false;
  return plain.precision < 2 || problem.quality >= plain.quality;
}

/** Milliseconds without a byte after which the rest of a refused body is drained no longer. */
const lingerIdleMs = 5_000;
/** Maximum milliseconds for which the rest is drained. Many clients read the response only after they have sent their whole request. */
const maxLingerMs = 30_000;
/** Rejected bodies up to this size are read to their end, so that the connection can be reused. */
const maxBytesReadForReuse = 64 * 1024;

function mayHaveLongRest({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxBytesReadForReuse;
}

/**
 * Ends the connection after a response that was sent before the whole request arrived, without reading the rest into memory. The rest is
 * drained for a while: closing immediately would reset the connection, and the client would lose the response.
 */
export function closeAfterEarlyResponse({ raw, request: { raw: request } }: FastifyReply): void {
  if (request.complete || !mayHaveLongRest(request)) return;
  const { socket } = request;
  raw.shouldKeepAlive = false;
  socket.destroySoon = () => {
    socket.end();
    const destroy = () => void socket.destroy();
    const idle = setTimeout(destroy, lingerIdleMs).unref();
    const total = setTimeout(destroy, maxLingerMs).unref();
    request.on('data', () => idle.refresh()).resume();
    socket.once('close', () => {
      clearTimeout(idle);
      clearTimeout(total);
    });
  };
}

/** The HTTP status of every kind of error. */
export const httpStatusOf: Readonly<Record<ErrorKind, number>> = {
  ValidationError: 400,
  PatternError: 400,
  ExceedsLimitError: 400,
  ArchivedFeatureError: 400,
  OwaspValidationError: 400,
  PasswordPreviouslyUsedError: 400,
  AuthenticationRequired: 401,
  PasswordMismatch: 401,
  InvalidTokenError: 401,
  NoAccessError: 403,
  UsedTokenError: 403,
  InvalidOperationError: 403,
  OperationDeniedError: 403,
  ForbiddenError: 403,
  IncompatibleProjectError: 403,
  NotFoundError: 404,
  NotImplementedError: 405,
  RequestTimeout: 408,
  NameExistsError: 409,
  ConflictError: 409,
  PreconditionFailed: 412,
  PayloadTooLarge: 413,
  UriTooLong: 414,
  ContentTypeerror: 415,
  IdempotencyKeyReused: 422,
  RateLimitError: 429,
  HeadersTooLarge: 431,
  InternalError: 500,
  ServiceUnavailable: 503,
};

const problemContentType = 'application/problem+json; charset=utf-8';
export const jsonContentType = 'application/json; charset=utf-8';

function titleOf(name: string): string {
  const words = name.replace(/[Ee]rror$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return `${words.slice(0, 1)}${words.slice(1).toLowerCase()}`;
}

function problemOf(status: number, error: ErrorBody): Problem {
  return {
    ...error,
    type: `urn:bunting:error:${error.name}`,
    title: titleOf(error.name),
    status,
    detail: error.message,
    instance: `urn:uuid:${error.id}`,
  };
}

/** Adds the name of a request header that the response depends on. */
export function addVary(reply: FastifyReply, name: string): void {
  const varies = reply.getHeader('vary');
  if (varies === undefined) return void reply.header('vary', name);
  if (!String(varies).split(', ').includes(name)) reply.header('vary', `${String(varies)}, ${name}`);
}

/** Responds with the refusal of a service or of the gateway itself. */
export function sendRefusal(
  reply: FastifyReply,
  { kind, error, retryAfterSeconds, tag }: RefusalResponse,
): FastifyReply {
  const { exchange } = reply.request;
  exchange.outcome = kind;
  exchange.errorId = error.id;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  if (tag !== undefined) reply.header('etag', `"${tag}"`);
  closeAfterEarlyResponse(reply);
  const status = httpStatusOf[kind];
  reply.code(status);
  if (isOfrepRequest(reply.request)) {
    return reply
      .header('content-type', jsonContentType)
      .send(JSON.stringify(ofrepErrorOf(reply.request, status, error)));
  }
  addVary(reply, 'Accept');
  if (!acceptsProblemJson(reply.request.headers.accept)) {
    return reply.header('content-type', jsonContentType).send(JSON.stringify(error));
  }
  return reply.header('content-type', problemContentType).send(JSON.stringify(problemOf(status, error)));
}

/** The name of an error of Fastify or of a plugin, without its message, which may quote the request. */
function libraryErrorOf({ code, name }: Error & { readonly code?: string }): string {
  return code ?? name;
}

/**
 * The status of an error by which Fastify, or its plugin for files, which takes its errors from `http-errors`, refuses a request. Undefined
 * for all others: the status of an error of another library is not about the request.
 */
function statusOfFrameworkError(error: unknown): number | undefined {
  const { code, expose, statusCode } = (error ?? {}) as { code?: unknown; expose?: unknown; statusCode?: unknown };
  const isOfFramework = (typeof code === 'string' && code.startsWith('FST_')) || typeof expose === 'boolean';
  return isOfFramework && typeof statusCode === 'number' ? statusCode : undefined;
}

/** The refusal to respond with for a thrown error; undefined for a defect. */
function refusalFrom(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const status = statusOfFrameworkError(error);
  if (status === 404) return refusal('NotFoundError', 'There is no resource at this address.');
  if (status !== undefined && status >= 400 && status < 500) {
    return refusal('ValidationError', 'The request cannot be understood.');
  }
  return undefined;
}

/** Responds with a thrown error. A defect is logged with its stack; the client gets an `InternalError` with the id of that log line. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = refusalFrom(error);
  const response = serializeRefusal(refusal ?? defectRefusal());
  if (refusal === undefined) reply.request.exchange.defect = error;
  else if (refusal !== error) reply.request.exchange.libraryError = libraryErrorOf(error as Error);
  return sendRefusal(reply, response);
}

function printablePath(url: string): string {
  const path = url.split('?', 1)[0] as string;
  return (path.length > 200 ? `${path.slice(0, 200)}…` : path).replace(/[^!-~…]/g, '?');
}

export function unknownPathRefusal(url: string): Refusal {
  return refusal('NotFoundError', `The path you were looking for (${printablePath(url)}) is not available.`);
}
