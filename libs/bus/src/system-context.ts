import { systemCaller } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import type { CallContext } from './bus.ts';
import { systemTraceparent } from './traceparent.ts';

/** The context of calls that Bunting makes by itself, on no user's behalf. */
export const systemContext = (timeoutMs: number): CallContext => ({
  caller: systemCaller,
  requestId: randomUUID(),
  traceparent: systemTraceparent(),
  timeoutMs,
});
