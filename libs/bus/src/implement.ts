import {
  allOperations,
  type AnyOperation,
  type Caller,
  type IfMatchTarget,
  operationName,
  type ReplyOf,
  type RequestOf,
  type ServiceName,
  serviceOf,
} from '@bunting/contracts';
import type { IdempotentWrite } from './conditional-requests.ts';

/** A reply that is JSON text already, as when PostgreSQL built it; it is passed on unchanged. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The reply to a caller whose cached copy is current, from an operation that tags its replies itself. */
export const notModified = new JsonText('');

/** The request that an endpoint handles: parameters, query, body, caller and deadline. */
export type OperationRequest<O extends AnyOperation> = RequestOf<O> & {
  readonly caller: Caller;
  /** when the service received the call */
  readonly now: Date;
  /** when the caller stops waiting */
  readonly deadline: Date;
  /** aborted when the reply can no longer reach the caller; transactions do not commit afterwards */
  readonly signal: AbortSignal | undefined;
  readonly requestId: string;
  readonly traceparent: string;
  /** present for a write with an `Idempotency-Key` */
  readonly idempotency: IdempotentWrite | undefined;
  /** the entity that `If-Match` refers to, in an operation that supports it */
  readonly ifMatchTarget: IfMatchTarget | undefined;
  /** throws unless the `If-Match` of the request names one of the tags; undefined without an `If-Match` */
  readonly requireIfMatch: ((current: readonly string[]) => void) | undefined;
  /** whether `If-None-Match` names this tag */
  readonly matchesIfNoneMatch: (tag: string) => boolean;
  /** sets a response header */
  readonly setHeader: (header: string, value: string) => void;
  /** the response headers set so far */
  readonly headers: Readonly<Record<string, string>>;
};

/** An operation and its handler. */
export interface Endpoint {
  readonly operation: AnyOperation;
  readonly handle: (request: OperationRequest<AnyOperation>) => Promise<unknown>;
}

/** Implements an operation by any function; request and reply have the types of its contract. */
export function implement<O extends AnyOperation>(
  operation: O,
  handle: (request: OperationRequest<O>) => Promise<ReplyOf<O> | JsonText>,
): Endpoint {
  return { operation, handle: handle as unknown as Endpoint['handle'] };
}

/** Implements an operation by a read: the JSON text of its result is the reply, and its entity tag, if it has one, the `ETag`. */
export function reads<O extends AnyOperation>(
  operation: O,
  read: (request: OperationRequest<O>) => Promise<string | { readonly json: string; readonly tag: string }>,
): Endpoint {
  return implement(operation, async (request) => {
    const result = await read(request);
    if (typeof result === 'string') return new JsonText(result);
    request.setHeader('ETag', `"${result.tag}"`);
    return new JsonText(result.json);
  });
}

/** Runs a job in a transaction, retried if need be, or returns the stored reply to a repeated request. */
type RunTransaction<O extends AnyOperation, Tx> = (
  request: OperationRequest<O>,
  job: (tx: Tx) => Promise<ReplyOf<O> | JsonText>,
) => Promise<ReplyOf<O> | JsonText>;

/** Implements an operation by a write: all of it is one transaction, whose result is the reply. */
export function writes<O extends AnyOperation, Tx>(
  operation: O,
  transaction: RunTransaction<O, Tx>,
  write: (tx: Tx, request: OperationRequest<O>) => Promise<ReplyOf<O> | JsonText>,
): Endpoint {
  return implement(operation, (request) => transaction(request, (tx) => write(tx, request)));
}

/**
 * Returns the endpoints of a service, which has one for each operation that the contracts assign to it.
 * @throws Error that names the operations with none or two: the service must not start
 */
export function requireAllEndpoints(service: ServiceName, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const subjects = endpoints.map(({ operation }) => operation.subject);
  const duplicates = subjects.filter((subject, index) => subjects.indexOf(subject) !== index);
  if (duplicates.length > 0) throw new Error(`The ${service} service has two endpoints for ${duplicates.join(', ')}.`);
  const missing = allOperations.filter(
    (operation) =>
      serviceOf(operation) === service && !operation.respondsFromMemory && !subjects.includes(operation.subject),
  );
  if (missing.length > 0) {
    const names = missing.map(operationName).join(', ');
    throw new Error(`The ${service} service has no endpoint for ${names}. Implement it in apps/${service}/src.`);
  }
  return endpoints;
}
