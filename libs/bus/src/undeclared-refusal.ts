import {
  type AnyOperation,
  conditionalErrors,
  type ErrorKind,
  errorsOfAnyRequest,
  impliedErrors,
  Refusal,
} from '@bunting/contracts';
import type { CallContext } from './bus.ts';

const hasConditionalHeader = ({ idempotencyKey, ifMatch, ifNoneMatch }: CallContext): boolean =>
  idempotencyKey !== undefined || ifMatch !== undefined || ifNoneMatch !== undefined;

/**
 * For `checkReplies`: the defect of an endpoint that has thrown a refusal whose kind its operation does not declare in `errors`, so that
 * OpenAPI would not document it. `undefined` for every other thrown value, and for what the document adds to each operation.
 */
export const undeclaredRefusal = (
  thrown: unknown,
  operation: AnyOperation,
  context: CallContext,
): Error | undefined => {
  if (!(thrown instanceof Refusal)) return undefined;
  const isOfConcurrentWrites = thrown.retryAfterSeconds !== undefined;
  const documented: readonly ErrorKind[] = [
    ...operation.errors,
    ...impliedErrors(operation),
    ...errorsOfAnyRequest,
    ...(isOfConcurrentWrites || hasConditionalHeader(context) ? conditionalErrors(operation) : []),
  ];
  // A defect of a called service is reported there.
  if (thrown.kind === 'InternalError' || documented.includes(thrown.kind)) return undefined;
  return new Error(`${operation.subject} does not declare ${thrown.kind} in its errors: ${thrown.message}`, {
    cause: thrown,
  });
};
