import {
  allOperations,
  type AnyOperation,
  type Caller,
  type IfMatchTarget,
  nameOf,
  type ReplyOf,
  type RequestOf,
  type ServiceName,
  serviceOf,
} from '@bunting/contracts';
import type { IdempotentWrite } from './idempotent-write.ts';

/** A reply that is JSON text already, as when PostgreSQL made it: it is passed on as it is. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The reply to a reader who has it already, as only an operation gives it that tags its replies itself. */
export const notModified = new JsonText('');

/** What an operation is given: what is asked, by whom, and when. */
export type OperationRequest<O extends AnyOperation> = RequestOf<O> & {
  readonly caller: Caller;
  readonly now: Date;
  /** when nobody waits for the answer any more */
  readonly deadline: Date;
  /** aborted when the reply can no longer reach the caller: what is not committed by then is not committed */
  readonly signal: AbortSignal | undefined;
  readonly requestId: string;
  readonly traceparent: string;
  /** what it takes to do a write once, when it carries an `Idempotency-Key` */
  readonly idempotency: IdempotentWrite | undefined;
  /** what `If-Match` is judged by, in an operation that has one */
  readonly conditional: IfMatchTarget | undefined;
  /** refuses a write that came with an `If-Match`, unless it names one of the tags; undefined when it came with none */
  readonly requireMatch: ((current: readonly string[]) => void) | undefined;
  /** whether the reader has what has this tag */
  readonly matchesIfNoneMatch: (tag: string) => boolean;
  /** says something beside the reply, as an HTTP header does */
  readonly setHeader: (header: string, value: string) => void;
  /** what was said so far */
  readonly headers: Readonly<Record<string, string>>;
};

/** An operation together with what answers it. */
export interface Endpoint {
  readonly operation: AnyOperation;
  readonly handle: (request: OperationRequest<AnyOperation>) => Promise<unknown>;
}

/** What answers an operation: the request is what its contract says, and so must the reply be. */
export const implement = <O extends AnyOperation>(
  operation: O,
  handle: (request: OperationRequest<O>) => Promise<ReplyOf<O> | JsonText>,
): Endpoint => ({ operation, handle: handle as unknown as Endpoint['handle'] });

/**
 * The endpoints of a service, when they are exactly those that the contracts assign to it, beside shared ones such as the outbox reader's.
 * @throws when an operation has no endpoint, or two: the service must not start
 */
export const completeEndpoints = (service: ServiceName, endpoints: readonly Endpoint[]): readonly Endpoint[] => {
  const subjects = endpoints.map(({ operation }) => operation.subject);
  const twice = subjects.filter((subject, index) => subjects.indexOf(subject) !== index);
  if (twice.length > 0) throw new Error(`The ${service} service has two endpoints for ${twice.join(', ')}.`);
  const missing = allOperations.filter(
    (operation) => serviceOf(operation) === service && !subjects.includes(operation.subject),
  );
  if (missing.length > 0) {
    const names = missing.map(nameOf).join(', ');
    throw new Error(
      `The ${service} service has no endpoint for ${names}. Implement it in apps/${service}/src/operations.`,
    );
  }
  return endpoints;
};
