import { type ContractVersion, contractVersion, type ServiceName, servicesCalledBy } from '@bunting/contracts';
import type { Bus, CallResponse } from './bus.ts';
import { systemContext } from './call.ts';

/** The service of a subject `call.<service>.<operation>`. */
export function serviceOfSubject(subject: string): string {
  return subject.split('.')[1] ?? '';
}

/** The subject on which every process of a service responds while it serves. It distinguishes a missing operation from a missing service. */
export function presenceSubject(service: ServiceName | string): string {
  return `present.${service}`;
}

/** The response of a process on the presence subject. */
export function presenceResponse(version: ContractVersion): CallResponse {
  return {
    reply: { json: JSON.stringify(version), headers: {} },
  };
}

/** Why two contract versions are incompatible, with the process to upgrade; undefined if they are compatible. */
function incompatibility(
  service: ServiceName,
  serviceVersion: ContractVersion,
  ownVersion: ContractVersion,
): string | undefined {
  if (serviceVersion.current < ownVersion.oldestSupported)
    return `The ${service} service has version ${serviceVersion.current} of the contract, and this process supports ${ownVersion.oldestSupported} and newer. Upgrade the ${service} service.`;
  if (ownVersion.current < serviceVersion.oldestSupported)
    return `The ${service} service supports version ${serviceVersion.oldestSupported} of the contract and newer, and this process has ${ownVersion.current}. Upgrade this process.`;
  return undefined;
}

const checkTimeoutMs = 1_000;

const checkTtlMs = 5_000;

/**
 * The check that a process of each called service has a contract version which is compatible with that of this process. Services that do not
 * respond are skipped. The result is cached for 5 seconds; a stale result is used while the next check runs.
 * @returns a function that throws an error, which names the incompatible services and which one to upgrade
 */
export function compatibilityCheckOfReadiness(
  bus: Bus,
  caller: ServiceName,
  ownVersion: ContractVersion = contractVersion,
) {
  let faults: readonly string[] = [];
  let checkedAt = Number.NEGATIVE_INFINITY;
  const versionOf = async (service: ServiceName): Promise<ContractVersion | undefined> => {
    const response = await bus.call(presenceSubject(service), '{}', {
      ...systemContext(checkTimeoutMs),
      repeatable: true,
    });
    if ('refusal' in response) return undefined;
    return JSON.parse(response.reply.json) as ContractVersion;
  };
  const check = async (): Promise<void> => {
    const results = await Promise.all(
      servicesCalledBy(caller).map(async (service) => {
        const serviceVersion = await versionOf(service);
        return serviceVersion === undefined ? undefined : incompatibility(service, serviceVersion, ownVersion);
      }),
    );
    faults = results.filter((result) => result !== undefined);
  };
  let firstCheck: Promise<void> | undefined;
  return async (): Promise<void> => {
    if (performance.now() - checkedAt > checkTtlMs) {
      checkedAt = performance.now();
      const checking = check().catch(() => undefined);
      firstCheck ??= checking;
    }
    await firstCheck;
    if (faults.length > 0) throw new Error(faults.join(' '));
  };
}
