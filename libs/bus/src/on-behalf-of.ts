import type { Caller } from '@bunting/contracts';
import type { CallContext } from './bus.ts';
import { traceparentFrom } from './call.ts';

interface ParentCall {
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

/** The context of a call that is made in order to answer another: same caller, same trace, and only the time that is left. */
export const onBehalfOf = ({ caller, requestId, traceparent, deadline }: ParentCall): CallContext => ({
  caller,
  requestId,
  traceparent: traceparentFrom(traceparent),
  timeoutMs: deadline.getTime() - Date.now(),
});
