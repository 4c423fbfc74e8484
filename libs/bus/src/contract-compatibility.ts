import { calledServices, type ContractVersion, contractVersion, type ServiceName } from '@bunting/contracts';
import type { Bus } from './bus.ts';
import { systemContext } from './call-context.ts';
import { presenceSubject } from './presence.ts';

/** The version of processes that respond with `true`, as they did before contracts had versions. */
const firstVersion: ContractVersion = { current: 1, oldestSupported: 1 };

const incompatibility = (service: ServiceName, theirs: ContractVersion, ours: ContractVersion): string | undefined => {
  if (theirs.current < ours.oldestSupported)
    return `The ${service} service has version ${theirs.current} of the contract, and this process supports ${ours.oldestSupported} and newer. Upgrade the ${service} service.`;
  if (ours.current < theirs.oldestSupported)
    return `The ${service} service supports version ${theirs.oldestSupported} of the contract and newer, and this process has ${ours.current}. Upgrade this process.`;
  return undefined;
};

const checkTimeoutMs = 1_000;

const checkTtlMs = 5_000;

/**
 * Checks that a process of each called service has a contract version that suits ours. Services that do not respond are skipped. The
 * result is cached for 5 seconds; a stale result is returned while the next check runs.
 * @returns a function that throws an error which names the incompatible services and which one to upgrade
 */
export const compatibilityCheck = (bus: Bus, caller: ServiceName, ours: ContractVersion = contractVersion) => {
  let faults: readonly string[] = [];
  let checkedAt = Number.NEGATIVE_INFINITY;
  const versionOf = async (service: ServiceName): Promise<ContractVersion | undefined> => {
    const response = await bus.call(presenceSubject(service), '{}', {
      ...systemContext(checkTimeoutMs),
      repeatable: true,
    });
    if ('refusal' in response) return undefined;
    const version = JSON.parse(response.reply.json) as ContractVersion | true;
    return version === true ? firstVersion : version;
  };
  const check = async (): Promise<void> => {
    const found = await Promise.all(
      calledServices[caller].map(async (service) => {
        const theirs = await versionOf(service);
        return theirs === undefined ? undefined : incompatibility(service, theirs, ours);
      }),
    );
    faults = found.filter((fault) => fault !== undefined);
  };
  let first: Promise<void> | undefined;
  return async (): Promise<void> => {
    if (performance.now() - checkedAt > checkTtlMs) {
      checkedAt = performance.now();
      const checking = check().catch(() => undefined);
      first ??= checking;
    }
    await first;
    if (faults.length > 0) throw new Error(faults.join(' '));
  };
};
