import { internalError, type RefusalResponse, refusalResponse } from '@bunting/bus';
import { type ErrorBody, type ErrorKind, type Problem, Refusal, refusal } from '@bunting/contracts';
import type { FastifyReply } from 'fastify';
import { acceptsProblemJson } from './request/accept-problem.ts';
import { closeAfterResponse } from './raw-response.ts';

/** The status of every kind of "no" (admin-api.md 9.4). */
export const statusOf: Readonly<Record<ErrorKind, number>> = {
  ValidationError: 400,
  PatternError: 400,
  ExceedsLimitError: 400,
  ArchivedFeatureError: 400,
  AuthenticationRequired: 401,
  NoAccessError: 403,
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

/** `NotFoundError` in words: what all errors of the kind have in common. */
const titleOf = (name: string): string => {
  const words = name.replace(/[Ee]rror$/, '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
  return `${words.slice(0, 1)}${words.slice(1).toLowerCase()}`;
};

/** The error with the members of a problem (RFC 9457) beside those that the interface promises. */
const problemOf = (status: number, error: ErrorBody): Problem => ({
  type: `urn:bunting:error:${error.name}`,
  title: titleOf(error.name),
  status,
  detail: error.message,
  instance: `urn:uuid:${error.id}`,
  ...error,
});

/** Answers with a "no", as it came over the bus or as the gateway itself says it. */
export const sendRefusal = (
  reply: FastifyReply,
  { kind, error, retryAfterSeconds, tag }: RefusalResponse,
): FastifyReply => {
  const { exchange } = reply.request;
  exchange.outcome = kind;
  exchange.errorId = error.id;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  if (tag !== undefined) reply.header('etag', `"${tag}"`);
  closeAfterResponse(reply);
  const status = statusOf[kind];
  reply.code(status);
  const varies = reply.getHeader('vary');
  reply.header('vary', varies === undefined ? 'Accept' : `${String(varies)}, Accept`);
  if (!acceptsProblemJson(reply.request.headers.accept)) {
    return reply.header('content-type', jsonContentType).send(JSON.stringify(error));
  }
  return reply.header('content-type', problemContentType).send(JSON.stringify(problemOf(status, error)));
};

/** What was thrown as the "no" that it means; undefined for what no one has thought of. */
const refusalFrom = (error: unknown): Refusal | undefined => {
  if (error instanceof Refusal) return error;
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (status === 404) return refusal('NotFoundError', 'There is nothing here.');
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return refusal('ValidationError', 'The request cannot be understood.');
  }
  return undefined;
};

/** Answers with what was thrown. A defect is logged whole, and answered with nothing but the id to find it by. */
export const sendError = (reply: FastifyReply, error: unknown): FastifyReply => {
  const known = refusalFrom(error);
  const refused = refusalResponse(known ?? internalError());
  if (known === undefined) reply.request.exchange.defect = error;
  return sendRefusal(reply, refused);
};

/** The address, short enough and plain enough to be said back. */
const printablePath = (url: string): string => {
  const path = url.split('?', 1)[0] as string;
  return (path.length > 200 ? `${path.slice(0, 200)}…` : path).replace(/[^!-~…]/g, '?');
};

export const unknownPath = (url: string): Refusal =>
  refusal('NotFoundError', `The path you were looking for (${printablePath(url)}) is not available.`);
