import { systemTraceparent } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';

/** The time limit of each transaction and call of a background job, in milliseconds. */
export const backgroundTimeoutMs = 30_000;

/** The context of a transaction that the service starts itself. */
export function systemTransactionContext() {
  const now = new Date();
  const deadline = new Date(now.getTime() + backgroundTimeoutMs);
  return { caller: systemCaller, now, deadline, traceparent: systemTraceparent() };
}
