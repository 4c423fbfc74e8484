import type { ErrorBody, ErrorDetail, ErrorKind } from '@bunting/contracts';
import { apiErrorMessages } from '../messages/api-errors.ts';

/** Why a call failed: a kind of the API, no connection to Bunting, or a response that is not Bunting's. */
export type FailureKind = ErrorKind | 'Offline' | 'UnexpectedResponse';

interface ApiErrorOptions {
  readonly status?: number;
  readonly id?: string;
  readonly details?: readonly ErrorDetail[];
  readonly permissions?: readonly string[];
  readonly retryAfterSeconds?: number | undefined;
}

/** A call that failed. `message` is the server's own sentence, made for people. */
export class ApiError extends Error {
  readonly kind: FailureKind;
  /** of HTTP; 0 without a response */
  readonly status: number;
  /** of the error instance, which the log names too */
  readonly id: string | undefined;
  readonly details: readonly ErrorDetail[];
  /** with 403: the permissions of which one is needed */
  readonly permissions: readonly string[];
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: FailureKind, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.name = 'ApiError';
    this.kind = kind;
    this.status = options.status ?? 0;
    this.id = options.id;
    this.details = options.details ?? [];
    this.permissions = options.permissions ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

const isErrorBody = (value: unknown): value is ErrorBody =>
  typeof value === 'object' && value !== null && 'name' in value && 'message' in value;

/** Seconds of a `Retry-After` header, which is a number or a date. */
export const retryAfterSeconds = (header: string | null, now: number): number | undefined => {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
};

/** The error of a response with a status other than 2xx. */
export const errorOfResponse = (response: Response, body: unknown): ApiError => {
  const common = {
    status: response.status,
    retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after'), Date.now()),
  };
  if (!isErrorBody(body)) {
    return new ApiError('UnexpectedResponse', apiErrorMessages.status(response.status), common);
  }
  return new ApiError(body.name as ErrorKind, body.message, {
    ...common,
    id: body.id,
    details: body.details ?? [],
    permissions: body.permissions ?? [],
  });
};
