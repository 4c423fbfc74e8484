import type { Bus, CallContext, CallRequest, CallResponse } from '@bunting/bus';
import { type AnyOperation, type Caller, isIdempotent, unavailable } from '@bunting/contracts';
import { callHidingProjects } from '../admission/authorisation.ts';

const hidesMore = (current: Caller, previous: Caller): boolean =>
  current.hiddenProjects !== previous.hiddenProjects &&
  (current.hiddenProjects ?? []).some((id) => previous.hiddenProjects?.includes(id) !== true);

const maxReads = 5;

interface ContextWithCurrentCaller extends CallContext {
  /** returns the caller with the current rights */
  readonly readCurrentCaller: () => Promise<Caller>;
}

/**
 * Calls the service and compares the caller's rights before and after. A project that became private during a call may be in the response:
 * a read is then repeated with the current rights.
 * @throws Refusal `ServiceUnavailable` when projects become private during each of `maxReads` reads
 */
export const callWithCurrentRights = async <O extends AnyOperation>(
  bus: Bus,
  operation: O,
  request: CallRequest<O>,
  { readCurrentCaller, ...context }: ContextWithCurrentCaller,
): Promise<CallResponse> => {
  let { caller } = context;
  for (let reads = 0; reads < maxReads; reads++) {
    const response = await callHidingProjects(bus, operation, request, { ...context, caller });
    if (!isIdempotent(operation)) return response;
    const currentCaller = await readCurrentCaller();
    if (!hidesMore(currentCaller, caller)) return response;
    caller = currentCaller;
  }
  throw unavailable('The visibility of projects keeps changing. Please try again.');
};
