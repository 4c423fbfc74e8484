/** The versions of calls and events between services that a process supports. */
export interface ContractVersion {
  /** the version of the requests, replies and events that the process sends */
  readonly current: number;
  /** the oldest version of requests, replies and events that the process can read */
  readonly oldestSupported: number;
}

/**
 * The contract version of this release. Additions need no new version, because unknown properties pass in both directions, and a call of an
 * operation that a service lacks is refused as such. Raise `current` with a change that the previous release would misunderstand, and
 * `oldestSupported` when code for an older version is removed (docs/upgrading.md).
 */
export const contractVersion: ContractVersion = { current: 1, oldestSupported: 1 };
