import { randomUUID } from 'node:crypto';
import { type Refusal, refusal } from '@bunting/contracts';
import type { RefusalResponse } from './bus.ts';

/** A refusal as it travels, with an id that names this instance of it. */
export const refusalResponse = (reason: Refusal, id: string = randomUUID()): RefusalResponse => ({
  kind: reason.kind,
  error: {
    id,
    name: reason.kind,
    message: reason.message,
    details: [...reason.details],
    ...(reason.permissions === undefined ? {} : { permissions: [...reason.permissions] }),
  },
  retryAfterSeconds: reason.retryAfterSeconds,
  ...(reason.tag === undefined ? {} : { tag: reason.tag }),
});

/** The refusal that an answer carried, for a service that called another. */
export const refusalFrom = ({ kind, error, retryAfterSeconds, tag }: RefusalResponse): Refusal =>
  refusal(kind, error.message, {
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.permissions === undefined ? {} : { permissions: error.permissions }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(tag === undefined ? {} : { tag }),
  });

/** What a defect looks like from outside: an id to find it in the log by, and nothing of its inside. */
export const internalError = (): Refusal =>
  refusal('InternalError', 'Something went wrong inside Bunting. The log has the details under the id of this error.');
