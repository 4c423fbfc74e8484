import { randomUUID } from 'node:crypto';
import { type ErrorBody, type Refusal, refusal, type RefusalExtras, type SignInOptions } from '@bunting/contracts';
import type { RefusalResponse } from './bus.ts';

/** Serialises a refusal. Its id is that of the called service, whose log has the details under it, or else a new one. */
export const serializeRefusal = (reason: Refusal, id: string = reason.id ?? randomUUID()): RefusalResponse => ({
  kind: reason.kind,
  error: {
    id,
    name: reason.kind,
    message: reason.message,
    details: [...reason.details],
    ...(reason.permissions === undefined ? {} : { permissions: [...reason.permissions] }),
    ...reason.signInOptions,
  },
  retryAfterSeconds: reason.retryAfterSeconds,
  ...(reason.tag === undefined ? {} : { tag: reason.tag }),
});

const signInOptionsOf = ({ path, type, defaultHidden, options }: ErrorBody): SignInOptions | undefined =>
  path === undefined || type === undefined || defaultHidden === undefined || options === undefined
    ? undefined
    : { path, type, defaultHidden, options };

/** Deserialises the refusal of a response, to be thrown by the calling service. */
export const deserializeRefusal = ({ kind, error, retryAfterSeconds, tag }: RefusalResponse): Refusal =>
  refusal(kind, error.message, {
    id: error.id,
    details: error.details,
    permissions: error.permissions,
    signInOptions: signInOptionsOf(error),
    retryAfterSeconds,
    tag,
  } satisfies Record<keyof RefusalExtras, unknown>);

/**
 * What callers get for a defect. It is no true refusal, but has the form of one, the only error that a response can have: no details, only
 * the id under which the log has them.
 */
export const defectRefusal = (): Refusal =>
  refusal('InternalError', 'Something went wrong inside Bunting. The log has the details under the id of this error.');
