import { ApiError } from '../api/api-error.ts';
import { formatCount } from './format-number.ts';
import { inPermissionNames, missingPermission } from './permission-words.ts';

function retryAdvice(error: ApiError): string {
  return error.retryAfterSeconds === undefined
    ? 'Try again in a moment.'
    : `Try again in ${formatCount(error.retryAfterSeconds, 'second')}.`;
}

/** A text as a sentence of its own. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** One sentence for what is denied, and one for what helps, unless the first says it already. */
function explainDenial({ message, permissions }: ApiError): string {
  if (permissions.length === 0) {
    // What authors may not do, nobody can give them.
    return /\bauthors?\b/i.test(message)
      ? sentence(message)
      : `${sentence(message)} An administrator can give you access.`;
  }
  const environment = / in the "([^"]+)" environment/.exec(message)?.[1];
  const place = environment === undefined ? '' : ` in ${environment}`;
  // The server says no more than the names of the permissions.
  return permissions.some((permission) => message.includes(permission))
    ? `You may not do this${place}: it takes ${missingPermission(permissions)}.`
    : `${sentence(message)} It takes ${missingPermission(permissions)}.`;
}

/** Explains an error to the user: what failed and, where it is known, what to do now. */
export function explainError(error: unknown): string {
  if (!(error instanceof ApiError))
    return `This page has a fault: ${error instanceof Error ? error.message : 'it failed without a reason'}`;
  switch (error.kind) {
    case 'Offline':
      return 'There is no connection to Bunting. Check the network; nothing you entered is lost.';
    case 'NoAccessError':
      return explainDenial(error);
    case 'PreconditionFailed':
      return 'Another person has changed this in the meantime. Compare before you save again.';
    case 'RateLimitError':
      return `Too many requests. ${retryAdvice(error)}`;
    case 'ServiceUnavailable':
    case 'RequestTimeout':
      return `Bunting cannot answer at the moment. ${retryAdvice(error)}`;
    case 'NameExistsError':
      // The field is called otherwise in forms.
      return error.message.replace(/^PAT description already exists\.$/, 'There is a token for that already.');
    case 'InternalError':
      return `${error.message} The log has it as ${error.id ?? 'an error without id'}.`;
    default:
      return inPermissionNames(error.message);
  }
}
