import { ApiError } from '../api/api-error.ts';
import { formatCount } from './format-number.ts';

function retryAdvice(error: ApiError): string {
  return error.retryAfterSeconds === undefined
    ? 'Try again in a moment.'
    : `Try again in ${formatCount(error.retryAfterSeconds, 'second')}.`;
}

/** Explains an error to the user: what failed and, where it is known, what to do now. */
export function explainError(error: unknown): string {
  if (!(error instanceof ApiError)) return `This page has a fault: ${String((error as Error)?.message ?? error)}`;
  switch (error.kind) {
    case 'Offline':
      return 'There is no connection to Bunting. Check the network; nothing you entered is lost.';
    case 'NoAccessError':
      return error.permissions.length === 0
        ? `${error.message} An administrator can give you access.`
        : `${error.message} You need the permission ${error.permissions.join(' or ')}.`;
    case 'PreconditionFailed':
      return 'Another person has changed this in the meantime. Compare before you save again.';
    case 'RateLimitError':
      return `Too many requests. ${retryAdvice(error)}`;
    case 'ServiceUnavailable':
    case 'RequestTimeout':
      return `Bunting cannot answer at the moment. ${retryAdvice(error)}`;
    case 'InternalError':
      return `${error.message} The log has it as ${error.id ?? 'an error without id'}.`;
    default:
      return error.message;
  }
}
