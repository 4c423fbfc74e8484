import { Refusal, refusal } from '@bunting/contracts';

const renamed = (text: string): string => text.replaceAll('/body/0', '/body');

/** Rewrites the paths of a refusal from a list with one change to a body that is that change. */
export const withPathsOfSingleChange = (error: unknown): unknown => {
  if (!(error instanceof Refusal)) return error;
  const details = error.details.map(({ message, path }) => ({
    message: renamed(message),
    ...(path === undefined ? {} : { path: renamed(path) }),
  }));
  return refusal(error.kind, renamed(error.message), {
    details,
    ...(error.permissions === undefined ? {} : { permissions: error.permissions }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  });
};
