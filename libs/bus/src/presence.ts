import type { ServiceName } from '@bunting/contracts';
import { unavailable } from '@bunting/contracts';
import type { CallResponse } from './bus.ts';
import { refusalResponse } from './refusal-response.ts';

/** The service of a subject `call.<service>.<operation>`. */
export const serviceOfSubject = (subject: string): string => subject.split('.')[1] ?? '';

/** The subject that every process of a service answers while it serves. It distinguishes a missing operation from a missing service. */
export const presenceSubject = (service: ServiceName | string): string => `present.${service}`;

/** An upgrade takes a while: earlier retries would fail as well. */
const retryAfterUpgradeSeconds = 30;

/** The response to a call without a responder. */
export const noHandlerResponse = (subject: string, isServicePresent: boolean): CallResponse => {
  const service = serviceOfSubject(subject);
  if (!isServicePresent)
    return { refusal: refusalResponse(unavailable(`No service answers ${subject} now. Please try again.`)) };
  const operation = subject.split('.').slice(2).join('.');
  const message = `The ${service} service runs an older version, without the operation ${operation}. Upgrade it, and try again.`;
  return { refusal: { ...refusalResponse(unavailable(message, retryAfterUpgradeSeconds)), isUnsupported: true } };
};
