import type { ServiceName } from './operation.ts';

/** The versions of calls and events between services that a process supports. */
export interface ContractVersion {
  /** the version of its requests, replies and events */
  readonly current: number;
  /** the oldest version of requests, replies and events that it can read */
  readonly oldestSupported: number;
}

/**
 * The contract version of this release. Additions need no new one, because unknown properties pass both ways and a missing operation is
 * reported as such. Raise `current` with a change that the release before would misunderstand, and `oldestSupported` when code for an
 * older version is removed (docs/upgrading.md).
 */
export const contractVersion: ContractVersion = { current: 1, oldestSupported: 1 };

/** The services that each service calls; those whose events it consumes are among them. */
export const calledServices: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  features: ['gateway', 'change-requests', 'audit'],
  'change-requests': ['gateway', 'features'],
  audit: ['gateway', 'features', 'change-requests', 'search'],
  search: ['features'],
  gateway: ['features', 'change-requests', 'audit', 'search'],
};
