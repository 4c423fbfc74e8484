import type { Caller } from '@bunting/contracts';
import { activeTraceparent } from '@bunting/tracing';
import type { CallContext } from './bus.ts';
import { traceparentFrom } from './traceparent.ts';

interface ParentCall {
  readonly caller: Caller;
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

/** The context of a call made while handling another: the same caller and trace, and the time left until the parent's deadline. */
export const onBehalfOf = ({ caller, requestId, traceparent, deadline }: ParentCall): CallContext => ({
  caller,
  requestId,
  traceparent: activeTraceparent() ?? traceparentFrom(traceparent),
  timeoutMs: deadline.getTime() - Date.now(),
});
