import type { ErrorKind } from './errors.ts';
import { type AnyOperation, isPublicOperation } from './operation.ts';

/** Errors that any HTTP request may get. */
export const errorsOfAnyRequest = [
  'RequestTimeout',
  'UriTooLong',
  'RateLimitError',
  'HeadersTooLarge',
] as const satisfies ErrorKind[];

/** The errors that an operation may lead to without declaring them, whatever the headers of the request. */
export const impliedErrors = (operation: AnyOperation): readonly ErrorKind[] => {
  const { http } = operation;
  const isWrite = http?.method !== 'GET';
  return [
    // Every operation reads a header that can be malformed: conditions of reads, idempotency keys of writes.
    'ValidationError',
    ...(isPublicOperation(operation) ? [] : (['AuthenticationRequired', 'NoAccessError'] as const)),
    ...(isWrite ? (['PayloadTooLarge'] as const) : []),
    ...(isWrite && http?.anyContentType !== true ? (['ContentTypeerror'] as const) : []),
    'ServiceUnavailable',
  ];
};

export const errorsOfConditionalHeaders = [
  'ConflictError',
  'IdempotencyKeyReused',
  'PreconditionFailed',
] as const satisfies ErrorKind[];

/** The errors that an operation may lead to because of `If-Match`, `If-None-Match` or `Idempotency-Key`. */
export const conditionalErrors = (operation: AnyOperation): readonly (typeof errorsOfConditionalHeaders)[number][] => {
  if (operation.http?.method === 'GET') return ['PreconditionFailed'];
  return [
    ...(isPublicOperation(operation) ? [] : (['ConflictError', 'IdempotencyKeyReused'] as const)),
    ...(operation.ifMatch === undefined ? [] : (['PreconditionFailed'] as const)),
  ];
};
