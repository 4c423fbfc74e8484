import { systemTraceparent } from '@bunting/bus';
import { systemCaller } from '@bunting/contracts';

/** The time limit of each step of housekeeping, in milliseconds. */
export const timeoutMs = 30_000;

/** The context of a transaction that the service starts itself. */
export const systemTransaction = () => {
  const now = new Date();
  const deadline = new Date(now.getTime() + timeoutMs);
  return { caller: systemCaller, now, deadline, traceparent: systemTraceparent() };
};
