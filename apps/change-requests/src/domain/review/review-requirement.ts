import { affectedEnvironments } from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../../requests/change-request.ts';

/** A protected environment that is connected to a project, and the number of approvals that it asks for. */
export interface Protection {
  readonly environment: string;
  readonly requiredApprovals: number;
}

/** What a request needs now. */
export interface ReviewRequirement {
  /** the number of approvals: the highest of those that were asked for when it was created, and that its environments ask for now */
  readonly minApprovals: number;
  /** the protected environments that its changes affect: whoever approves or applies it needs the permission in all of them */
  readonly affectedEnvironments: readonly string[];
}

/** What a request needs where its project has these protected environments. */
export const reviewRequirement = (
  {
    environment,
    changes,
    minApprovals,
  }: Pick<ChangeRequest, 'environment' | 'minApprovals'> & {
    readonly changes: readonly Pick<ProposedChange, 'action'>[];
  },
  protections: readonly Protection[],
): ReviewRequirement => {
  const names = protections.map((protection) => protection.environment);
  const affected = affectedEnvironments(changes, environment, names);
  const asking = protections.filter(
    (protection) => protection.environment === environment || affected.includes(protection.environment),
  );
  return {
    minApprovals: Math.max(minApprovals, ...asking.map(({ requiredApprovals }) => requiredApprovals)),
    affectedEnvironments: affected,
  };
};
