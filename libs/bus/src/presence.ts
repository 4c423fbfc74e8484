import { type ContractVersion, type ServiceName } from '@bunting/contracts';
import type { CallResponse } from './bus.ts';

/** The service of a subject `call.<service>.<operation>`. */
export const serviceOfSubject = (subject: string): string => subject.split('.')[1] ?? '';

/** The subject on which every process of a service responds while it serves. It distinguishes a missing operation from a missing service. */
export const presenceSubject = (service: ServiceName | string): string => `present.${service}`;

/** The response of a process on the presence subject. */
export const presenceResponse = (version: ContractVersion): CallResponse => ({
  reply: { json: JSON.stringify(version), headers: {} },
});
