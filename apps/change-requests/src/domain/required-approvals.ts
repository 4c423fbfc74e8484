import { invalid, type RecordedEvent, refusal } from '@bunting/contracts';
import type { Actor } from './change-request.ts';

const minApprovals = 1;
const maxApprovals = 10;

/**
 * The number of approvals that an environment will require, within the allowed range; null if it will not be protected.
 * @param minimum the minimum that the environment sets for every project, and the default
 */
export const requiredApprovalsOf = (
  wanted: { readonly changeRequestsEnabled: boolean; readonly requiredApprovals?: number | undefined },
  minimum = minApprovals,
): number | null =>
  wanted.changeRequestsEnabled
    ? Math.min(maxApprovals, Math.max(minApprovals, wanted.requiredApprovals ?? minimum))
    : null;

/** Refuses a value below the minimum that the environment sets for every project. A lower stored value may stay unchanged. */
export const requireMinimum = (
  before: number | null,
  after: number | null,
  minimum: number,
  environment: string,
): void => {
  if (after === before || (after ?? 0) >= minimum) return;
  const path = after === null ? '/body/changeRequestsEnabled' : '/body/requiredApprovals';
  throw invalid(
    `The environment ${environment} asks for at least ${minimum} approvals: see the \`${path}\` property.`,
    path,
  );
};

/**
 * The number of approvals that a new request requires. In an unprotected environment the request is voluntary and requires the minimum.
 * @throws Refusal `NoAccessError` if the environment is not protected and voluntary requests are disabled.
 */
export const approvalsFor = (configured: number | null, allowsUnprotectedProposals: boolean): number => {
  if (configured === null && !allowsUnprotectedProposals) {
    throw refusal('NoAccessError', 'Change requests are not enabled in this environment');
  }
  return configured ?? minApprovals;
};

const shown = (requiredApprovals: number | null) => ({
  changeRequestsEnabled: requiredApprovals !== null,
  requiredApprovals,
});

/** The events of a changed setting; none if the value is the same. */
export const configurationUpdated = (
  { project, environment }: { readonly project: string; readonly environment: string },
  before: number | null,
  after: number | null,
  { by, now }: Actor,
): RecordedEvent[] =>
  before === after
    ? []
    : [
        {
          type: 'change-request-configuration-updated',
          createdAt: now.toISOString(),
          createdBy: by.name,
          createdByUserId: by.id,
          project,
          environment,
          featureName: null,
          data: shown(after),
          preData: shown(before),
          tags: [],
        },
      ];
