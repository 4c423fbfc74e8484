import type { ServiceName } from '@bunting/contracts';
import { unavailable } from '@bunting/contracts';
import type { CallResponse } from './bus.ts';
import { refusalResponse } from './refusal-response.ts';

/** The service of a subject `call.<service>.<operation>`. */
export const serviceOfSubject = (subject: string): string => subject.split('.')[1] ?? '';

/** Answered by every process of a service once it answers all of its operations: tells a missing operation from a missing service. */
export const presenceSubject = (service: ServiceName | string): string => `present.${service}`;

/** Upgrading takes a while: sooner a retry is of no use. */
const retryAfterUpgradeSeconds = 30;

/** The answer to a call that no process answers. */
export const noHandlerResponse = (subject: string, isServicePresent: boolean): CallResponse => {
  const service = serviceOfSubject(subject);
  if (!isServicePresent)
    return { refusal: refusalResponse(unavailable(`Nobody answers ${subject} now. Please try again.`)) };
  const operation = subject.split('.').slice(2).join('.');
  const message = `The ${service} service runs an older version, without the operation ${operation}. Upgrade it, and try again.`;
  return { refusal: { ...refusalResponse(unavailable(message, retryAfterUpgradeSeconds)), isUnsupported: true } };
};
