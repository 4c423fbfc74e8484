import { Refusal, refusal } from '@bunting/contracts';

const renamed = (text: string): string => text.replaceAll('/body/0', '/body');

/** A refusal of the only change of a list, as a refusal of a body that is that change. */
export const inBody = (error: unknown): unknown => {
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
