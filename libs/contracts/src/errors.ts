import { type Static, Type } from 'typebox';

/** Every kind of "no" that Bunting gives, spelled as the interface promises (section 7). */
export const errorKinds = [
  'ValidationError',
  'PatternError',
  'ExceedsLimitError',
  'ArchivedFeatureError',
  'AuthenticationRequired',
  'NoAccessError',
  'InvalidOperationError',
  'OperationDeniedError',
  'ForbiddenError',
  'IncompatibleProjectError',
  'NotFoundError',
  'NotImplementedError',
  'RequestTimeout',
  'NameExistsError',
  'ConflictError',
  'PreconditionFailed',
  'PayloadTooLarge',
  'UriTooLong',
  'ContentTypeerror',
  'IdempotencyKeyReused',
  'RateLimitError',
  'HeadersTooLarge',
  'InternalError',
  'ServiceUnavailable',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

export const ErrorDetail = Type.Object({
  message: Type.String({ description: 'what is wrong' }),
  path: Type.Optional(
    Type.String({ description: 'where it is wrong, as a JSON pointer that begins with /body, /query or /params' }),
  ),
});
export type ErrorDetail = Static<typeof ErrorDetail>;

/** The body of every answer that is not a success (interface 2.13). */
export const ErrorBody = Type.Object(
  {
    id: Type.String({ description: 'id of the error instance; the log names it too' }),
    name: Type.String({ description: 'name of the error kind' }),
    message: Type.String({ description: 'description of what went wrong' }),
    details: Type.Optional(Type.Array(ErrorDetail)),
    permissions: Type.Optional(
      Type.Array(Type.String(), { description: 'with 403: the permissions of which one is needed' }),
    ),
  },
  { title: 'errorSchema' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** The same error for who asks for `application/problem+json` (RFC 9457): both sets of members. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: 'identifies the error kind' }),
    title: Type.String({ description: 'the error kind in words' }),
    status: Type.Integer({ description: 'the status of the answer' }),
    detail: Type.String({ description: 'description of what went wrong' }),
    instance: Type.String({ description: 'identifies the error instance' }),
    ...ErrorBody.properties,
  },
  { title: 'problemSchema' },
);
export type Problem = Static<typeof Problem>;

interface RefusalExtras {
  readonly details?: readonly ErrorDetail[];
  readonly permissions?: readonly string[];
  readonly retryAfterSeconds?: number;
  /** of what has changed: its tag as it is now */
  readonly tag?: string;
}

/** A "no" with its reason, in the user's words. It travels over the bus as data and becomes HTTP at the gateway alone. */
export class Refusal extends Error {
  readonly kind: ErrorKind;
  readonly details: readonly ErrorDetail[];
  readonly permissions: readonly string[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly tag: string | undefined;

  constructor(kind: ErrorKind, message: string, extras: RefusalExtras = {}) {
    super(message);
    this.name = kind;
    this.kind = kind;
    this.details = extras.details ?? [{ message }];
    this.permissions = extras.permissions;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.tag = extras.tag;
  }
}

export const refusal = (kind: ErrorKind, message: string, extras?: RefusalExtras): Refusal =>
  new Refusal(kind, message, extras);

/** 400. The message names the property at fault (interface section 7, rule 2). */
export const invalid = (message: string, path?: string): Refusal =>
  new Refusal('ValidationError', message, { details: [path === undefined ? { message } : { message, path }] });

/** 400 with a reason for each fault; the first is told in the message. */
export const invalidAll = (details: readonly ErrorDetail[]): Refusal =>
  new Refusal('ValidationError', details[0]?.message ?? 'The request is not valid.', { details });

/** 404 in the words of admin-api.md; pass the whole sentence. */
export const notFound = (message: string): Refusal => new Refusal('NotFoundError', message);

/** 403 for a caller without one of the permissions that the operation asks for. */
export const noAccess = (permissions: readonly string[], environment?: string): Refusal => {
  const names = permissions.map((permission) => `"${permission}"`).join(', ');
  const need = permissions.length > 1 ? `one of the following permissions: ${names}` : `the ${names} permission`;
  const where = environment === undefined ? '' : ` in the "${environment}" environment`;
  return new Refusal(
    'NoAccessError',
    `You don't have the required permissions to perform this operation. To perform this action, you need ${need}${where}.`,
    { permissions },
  );
};

/** 503: the service that would answer is away or cannot answer in time. */
export const unavailable = (message: string, retryAfterSeconds = 1): Refusal =>
  new Refusal('ServiceUnavailable', message, { retryAfterSeconds });
