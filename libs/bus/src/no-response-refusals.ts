import { type Refusal, unavailable } from '@bunting/contracts';
import type { CallResponse } from './bus.ts';
import { serviceOfSubject } from './presence.ts';
import { refusalResponse } from './refusal-response.ts';

const refused = (reason: Refusal): CallResponse => ({ refusal: refusalResponse(reason) });

/** An upgrade takes a while: earlier retries would fail as well. */
const retryAfterUpgradeSeconds = 30;

/** The response to a call without a responder. */
export const noHandlerResponse = (subject: string, isServicePresent: boolean): CallResponse => {
  const service = serviceOfSubject(subject);
  if (!isServicePresent) return refused(unavailable(`No service answers ${subject} now. Please try again.`));
  const operation = subject.split('.').slice(2).join('.');
  const message = `The ${service} service runs an older version, without the operation ${operation}. Upgrade it, and try again.`;
  return { refusal: { ...refusalResponse(unavailable(message, retryAfterUpgradeSeconds)), isUnsupported: true } };
};

/** The response to a call that begins after its deadline. */
export const deadlinePassedResponse = (subject: string): CallResponse =>
  refused(unavailable(`${subject} was not called: its deadline has passed.`));

/** The response to a call without a reply by its deadline. */
export const timeoutResponse = (subject: string, { isWrite }: { readonly isWrite: boolean }): CallResponse =>
  refused(
    unavailable(
      isWrite
        ? `${subject} did not answer in time. It may or may not have been executed, and will not be executed from now on. Check, and try again.`
        : `${subject} did not answer in time. Please try again.`,
    ),
  );

/** The response to a write whose responder disappeared before it replied. */
export const responderLostResponse = (subject: string): CallResponse =>
  refused(
    unavailable(
      `The process that handled ${subject} was lost before it answered. The call may or may not have been executed. Check, and try again.`,
    ),
  );
