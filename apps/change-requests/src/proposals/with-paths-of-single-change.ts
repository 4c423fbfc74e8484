import { type ErrorDetail, Refusal, refusal } from '@bunting/contracts';

function withoutIndex(path: string): string {
  return path.replace(/^\/body\/0(?=\/|$)/, '/body');
}

/** Rewrites the path where the message names it: at its beginning, or after the reason. All other text may be quoted from the request. */
function messageWithoutIndex(message: string, path: string): string {
  const quotedPath = `\`${path}\``;
  const start = 'The ';
  const index = message.startsWith(`${start}${quotedPath}`) ? start.length : message.lastIndexOf(quotedPath);
  return index < 0
    ? message
    : `${message.slice(0, index)}\`${withoutIndex(path)}\`${message.slice(index + quotedPath.length)}`;
}

function detailWithoutIndex({ message, path, ...rest }: ErrorDetail): ErrorDetail {
  return path === undefined
    ? { message, ...rest }
    : { message: messageWithoutIndex(message, path), path: withoutIndex(path), ...rest };
}

/** Rewrites the paths of a refusal from a list with one change to a body that is that change. */
export function withPathsOfSingleChange(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  const path = error.details[0]?.path;
  return refusal(error.kind, path === undefined ? error.message : messageWithoutIndex(error.message, path), {
    ...error.extras,
    details: error.details.map(detailWithoutIndex),
  });
}
