import { type Static, Type } from 'typebox';
import { type AnyOperation, isPublicOperation } from './operation.ts';
import { optionalMembers } from './schemas.ts';
import { truncate } from './values.ts';

/** The ways to sign in, in the form from which user interfaces of Unleash build their sign-in page. */
export const SignInOptions = Type.Object({
  path: Type.String({ description: 'with 401: where a password is sent to' }),
  type: Type.String({ description: 'with 401: `password`, the kind of the form' }),
  defaultHidden: Type.Boolean({
    description: 'with 401: whether the form for a password is hidden, as passwords are turned off',
  }),
  options: Type.Array(
    Type.Object({
      type: Type.String({ description: 'the kind of single sign-on' }),
      message: Type.String({ description: 'the label of the button' }),
      path: Type.String({ description: 'where the button leads to' }),
    }),
    { description: 'with 401: the ways of single sign-on' },
  ),
  hasUsers: Type.Optional(
    Type.Literal(false, {
      description:
        'with 401, while nobody has an account: the first one is created by the link that Bunting prints at its start',
    }),
  ),
});
export type SignInOptions = Static<typeof SignInOptions>;

/** Every error kind, spelled as in responses (docs/behaviour.md, Errors). */
export const errorKinds = [
  'ValidationError',
  'PatternError',
  'ExceedsLimitError',
  'ArchivedFeatureError',
  'OwaspValidationError',
  'PasswordPreviouslyUsedError',
  'AuthenticationRequired',
  'PasswordMismatch',
  'InvalidTokenError',
  'NoAccessError',
  'UsedTokenError',
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
  message: Type.String({ description: 'description of the fault' }),
  path: Type.Optional(
    Type.String({
      description: 'the location of the fault, as a JSON pointer that begins with /body, /query or /params',
    }),
  ),
  validationErrors: Type.Optional(
    Type.Array(Type.String(), { description: 'of a password that is too weak: each rule that it breaks' }),
  ),
});
export type ErrorDetail = Static<typeof ErrorDetail>;

export const ErrorBody = Type.Object(
  {
    id: Type.String({ description: 'id of the error instance; the log names it too' }),
    name: Type.String({ description: 'name of the error kind' }),
    message: Type.String({ description: 'description of the error' }),
    details: Type.Optional(Type.Array(ErrorDetail)),
    permissions: Type.Optional(
      Type.Array(Type.String(), { description: 'with 403: the permissions of which one is needed' }),
    ),
    ...optionalMembers(SignInOptions.properties),
  },
  { title: 'errorSchema' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** An error for clients that accept `application/problem+json` (RFC 9457): its members and those of `ErrorBody`. */
export const Problem = Type.Object(
  {
    ...ErrorBody.properties,
    type: Type.String({ description: 'identifies the error kind' }),
    title: Type.String({ description: 'the error kind in words' }),
    status: Type.Integer({ description: 'the status of the response' }),
    detail: Type.String({ description: 'description of the error' }),
    instance: Type.String({ description: 'identifies the error instance' }),
  },
  { title: 'problemSchema' },
);
export type Problem = Static<typeof Problem>;

/** Optional properties of a refusal. */
export interface RefusalExtras {
  /** the id of this occurrence of the error, where a called service has logged it; the response and the log name it */
  readonly id?: string | undefined;
  /** the invalid properties, each with its own message */
  readonly details?: readonly ErrorDetail[] | undefined;
  /** with 403: the permissions of which the caller needs one */
  readonly permissions?: readonly string[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** with 401: the ways to sign in */
  readonly signInOptions?: SignInOptions | undefined;
  /** with 412: the current entity tag of the resource that `If-Match` did not match */
  readonly tag?: string | undefined;
}

/** An expected error with a message for the user. The bus transports it as data; the gateway maps it to an HTTP status. */
export class Refusal extends Error {
  readonly kind: ErrorKind;
  /** the optional properties together, for code that throws the refusal again with another message */
  readonly extras: RefusalExtras;

  constructor(kind: ErrorKind, message: string, extras: RefusalExtras = {}) {
    super(message);
    this.name = kind;
    this.kind = kind;
    this.extras = extras;
  }

  get details(): readonly ErrorDetail[] {
    return this.extras.details ?? [{ message: this.message }];
  }
  get id(): string | undefined {
    return this.extras.id;
  }
  get permissions(): readonly string[] | undefined {
    return this.extras.permissions;
  }
  get retryAfterSeconds(): number | undefined {
    return this.extras.retryAfterSeconds;
  }
  get signInOptions(): SignInOptions | undefined {
    return this.extras.signInOptions;
  }
  get tag(): string | undefined {
    return this.extras.tag;
  }
}

/**
 * The result of a retry of a refused request that neither its sender nor anyone else changes: `refused again` where the request or the
 * data must change first, `may succeed` where the cause ends by itself, `unknown` after a defect. A refusal with `retryAfterSeconds`,
 * such as a `ConflictError` of concurrent writes, may succeed on a retry whatever its kind.
 */
export type RetryOutcome = 'refused again' | 'may succeed' | 'unknown';

/** Whether a retry may help, by error kind. */
export const retryOutcomes: Readonly<Record<ErrorKind, RetryOutcome>> = {
  ValidationError: 'refused again',
  PatternError: 'refused again',
  ExceedsLimitError: 'refused again',
  ArchivedFeatureError: 'refused again',
  OwaspValidationError: 'refused again',
  PasswordPreviouslyUsedError: 'refused again',
  AuthenticationRequired: 'refused again',
  PasswordMismatch: 'refused again',
  InvalidTokenError: 'refused again',
  NoAccessError: 'refused again',
  UsedTokenError: 'refused again',
  InvalidOperationError: 'refused again',
  OperationDeniedError: 'refused again',
  ForbiddenError: 'refused again',
  IncompatibleProjectError: 'refused again',
  NotFoundError: 'refused again',
  NotImplementedError: 'refused again',
  RequestTimeout: 'may succeed',
  NameExistsError: 'refused again',
  ConflictError: 'refused again',
  PreconditionFailed: 'refused again',
  PayloadTooLarge: 'refused again',
  UriTooLong: 'refused again',
  ContentTypeerror: 'refused again',
  IdempotencyKeyReused: 'refused again',
  RateLimitError: 'may succeed',
  HeadersTooLarge: 'refused again',
  InternalError: 'unknown',
  ServiceUnavailable: 'may succeed',
};

/** Whether a retry would meet a refusal of the kind again. */
export function isFinalKind(kind: ErrorKind): boolean {
  return retryOutcomes[kind] === 'refused again';
}

/** Whether an error is a refusal of a kind that a retry would meet again: neither an outage or a limit that is temporary, nor a defect. */
export function isFinalRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal && isFinalKind(error.kind);
}

export function refusal(kind: ErrorKind, message: string, extras?: RefusalExtras): Refusal {
  return new Refusal(kind, message, extras);
}

/** 400. The message must name the invalid property. */
export function invalid(message: string, path?: string): Refusal {
  return new Refusal('ValidationError', message, { details: [path === undefined ? { message } : { message, path }] });
}

function shortPath(path: string): string {
  return truncate(path, 200);
}

/** 400 with a reason, worded as in Unleash without a full stop, and the invalid property. */
export function invalidProperty(reason: string, path: string): Refusal {
  const shownPath = shortPath(path);
  return invalid(`${reason}: see the \`${shownPath}\` property.`, shownPath);
}

/** 400: a resource limit would be exceeded. The message is Unleash's, and names the property at `path` unless that is the whole body. */
export function limitExceeded(resource: string, limit: number, path?: string): Refusal {
  const reason = `Failed to create ${resource}. You can't create more than the established limit of ${limit}`;
  if (path === undefined) return refusal('ExceedsLimitError', `${reason}.`);
  const shownPath = shortPath(path);
  const message = shownPath === '/body' ? `${reason}.` : `${reason}: see the \`${shownPath}\` property.`;
  return refusal('ExceedsLimitError', message, { details: [{ message, path: shownPath }] });
}

/** 400 with one detail per invalid property; the first is the message. */
export function invalidProperties(details: readonly ErrorDetail[]): Refusal {
  return new Refusal('ValidationError', details[0]?.message ?? 'The request is not valid.', { details });
}

/** 404 with a message that names what was not found. */
export function notFound(message: string): Refusal {
  return new Refusal('NotFoundError', message);
}

/** 404: there is no such project, or the caller may not see it. */
export function projectNotFound(id: string): Refusal {
  return notFound(`Could not find project with id ${truncate(id, 200)}`);
}

/** 404: the project does not use the environment. */
export function environmentNotInProject(environment: string, project: string): Refusal {
  return notFound(`Could not find environment ${truncate(environment, 200)} for project: ${truncate(project, 200)}`);
}

/** 403 for a caller without one of the permissions that the operation requires. */
export function noAccess(permissions: readonly string[], environment?: string): Refusal {
  const names = permissions.map((permission) => `"${permission}"`).join(', ');
  const need = permissions.length > 1 ? `one of the following permissions: ${names}` : `the ${names} permission`;
  const where = environment === undefined ? '' : ` in the "${environment}" environment`;
  return new Refusal(
    'NoAccessError',
    `You don't have the required permissions to perform this operation. To perform this action, you need ${need}${where}.`,
    { permissions },
  );
}

/** 503: the responsible service is unreachable or does not respond within the deadline. */
export function unavailable(message: string, retryAfterSeconds = 1): Refusal {
  return new Refusal('ServiceUnavailable', message, { retryAfterSeconds });
}

/** Errors that any HTTP request may get. */
export const errorsOfAnyRequest = [
  'RequestTimeout',
  'UriTooLong',
  'RateLimitError',
  'HeadersTooLarge',
] as const satisfies ErrorKind[];

/** The errors that an operation may lead to without declaring them, whatever the headers of the request. */
export function impliedErrors(operation: AnyOperation): readonly ErrorKind[] {
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
}

export const errorsOfConditionalHeaders = [
  'ConflictError',
  'IdempotencyKeyReused',
  'PreconditionFailed',
] as const satisfies ErrorKind[];

/** The errors that an operation may lead to because of `If-Match`, `If-None-Match` or `Idempotency-Key`. */
export function conditionalErrors(operation: AnyOperation): readonly (typeof errorsOfConditionalHeaders)[number][] {
  if (operation.http?.method === 'GET') return ['PreconditionFailed'];
  return [
    ...(isPublicOperation(operation) ? [] : (['ConflictError', 'IdempotencyKeyReused'] as const)),
    ...(operation.ifMatch === undefined ? [] : (['PreconditionFailed'] as const)),
  ];
}
