import { randomUUID } from 'node:crypto';
import { type Refusal, refusal } from '@bunting/contracts';
import type { RefusalResponse } from './bus.ts';

/** A refusal as data on the wire, with an id for this occurrence: that of the called service, whose log has the details under it. */
export const refusalResponse = (reason: Refusal, id: string = reason.id ?? randomUUID()): RefusalResponse => ({
  kind: reason.kind,
  error: {
    id,
    name: reason.kind,
    message: reason.message,
    details: [...reason.details],
    ...(reason.permissions === undefined ? {} : { permissions: [...reason.permissions] }),
    ...reason.signInForm,
  },
  retryAfterSeconds: reason.retryAfterSeconds,
  ...(reason.tag === undefined ? {} : { tag: reason.tag }),
});

/** The refusal of a response, to be thrown by the calling service. */
export const refusalFrom = ({ kind, error, retryAfterSeconds, tag }: RefusalResponse): Refusal =>
  refusal(kind, error.message, {
    id: error.id,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.permissions === undefined ? {} : { permissions: error.permissions }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(tag === undefined ? {} : { tag }),
  });

/** The refusal that callers get for a defect: no details, only the id under which the log has them. */
export const internalError = (): Refusal =>
  refusal('InternalError', 'Something went wrong inside Bunting. The log has the details under the id of this error.');
