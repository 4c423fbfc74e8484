import type { ErrorBody, ErrorDetail, ErrorKind } from '@bunting/contracts';
import { serverNow } from './server-clock.ts';
import { inFieldWords } from '../text/field-words.ts';

/** Why a call failed: a kind of the API, no connection to Bunting, or a response that is not Bunting's. */
export type FailureKind = ErrorKind | 'Offline' | 'UnexpectedResponse';

interface ApiErrorOptions {
  readonly status?: number;
  readonly id?: string;
  readonly details?: readonly ErrorDetail[];
  readonly permissions?: readonly string[];
  readonly retryAfterSeconds?: number | undefined;
}

/** A call that failed. `message` is the server's sentence, with fields by their names. */
export class ApiError extends Error {
  readonly kind: FailureKind;
  /** the HTTP status; 0 when there was no response */
  readonly status: number;
  /** identifies this occurrence of the error; the log of the server has the same id */
  readonly id: string | undefined;
  readonly details: readonly ErrorDetail[];
  /** with status 403: the user needs one of these permissions */
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

function isErrorBody(value: unknown): value is ErrorBody {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}

/** The seconds until a retry by a `Retry-After` header, which has seconds or a date. @param now milliseconds since 1970 */
function retryAfterSeconds(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

const proxyStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** The error of a response with a status other than 2xx. */
export function errorOfResponse(response: Response, body: unknown): ApiError {
  const shared = {
    status: response.status,
    retryAfterSeconds: retryAfterSeconds(response.headers.get('retry-after'), serverNow()),
  };
  if (!isErrorBody(body)) {
    // A proxy answers for Bunting while that restarts.
    if (proxyStatuses.has(response.status))
      return new ApiError('ServiceUnavailable', 'Bunting cannot answer at the moment.', shared);
    return new ApiError('UnexpectedResponse', `Bunting responded with status ${response.status}.`, shared);
  }
  return new ApiError(body.name as ErrorKind, inFieldWords(body.message), {
    ...shared,
    id: body.id,
    details: (body.details ?? []).map((detail) => ({ ...detail, message: inFieldWords(detail.message) })),
    permissions: body.permissions ?? [],
  });
}
