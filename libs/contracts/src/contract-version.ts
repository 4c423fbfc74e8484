import type { ServiceName } from './operation.ts';

/** The versions of calls and events between services that a process supports. */
export interface ContractVersion {
  /** the version that its requests, replies and events have */
  readonly speaks: number;
  /** the oldest version whose requests, replies and events it understands */
  readonly understands: number;
}

/**
 * The contract version of this release. Additions need no new one, because unknown properties pass both ways and a missing operation is
 * reported as such. Raise `speaks` with a change that the release before would misunderstand, and `understands` when code for an older
 * version is removed (docs/upgrading.md).
 */
export const contractVersion: ContractVersion = { speaks: 1, understands: 1 };

/** The services that each service calls; those whose events it consumes are among them. */
export const calledServices: Readonly<Record<ServiceName, readonly ServiceName[]>> = {
  features: ['gateway', 'change-requests', 'audit'],
  'change-requests': ['gateway', 'features'],
  audit: ['gateway', 'features', 'change-requests', 'search'],
  search: ['features'],
  gateway: ['features', 'change-requests', 'audit', 'search'],
};
