import { invalid, type RecordedEvent, refusal } from '@bunting/contracts';
import type { Actor } from './change-request.ts';

const fewest = 1;
const most = 10;

/**
 * How many approvals an environment is to need; none where it is not to be protected.
 * @param least as many as the environment asks for in every project, which is what it needs unless more are wanted
 */
export const requiredApprovalsOf = (
  wanted: { readonly changeRequestsEnabled: boolean; readonly requiredApprovals?: number | undefined },
  least = fewest,
): number | null =>
  wanted.changeRequestsEnabled ? Math.min(most, Math.max(fewest, wanted.requiredApprovals ?? least)) : null;

/** Refuses to ask for less than the environment asks for in every project. What is less already may stay as it is. */
export const requireLeast = (before: number | null, after: number | null, least: number, environment: string): void => {
  if (after === before || (after ?? 0) >= least) return;
  const path = after === null ? '/body/changeRequestsEnabled' : '/body/requiredApprovals';
  throw invalid(
    `The environment ${environment} asks for at least ${least} approvals: see the \`${path}\` property.`,
    path,
  );
};

/**
 * How many approvals a new request needs, by what is configured for its environment. Where nothing is, it is made voluntarily.
 * @throws Refusal `NoAccessError` where nobody proposes what takes no change request.
 */
export const approvalsFor = (configured: number | null, isVoluntary: boolean): number => {
  if (configured === null && !isVoluntary) {
    throw refusal('NoAccessError', 'Change requests are not enabled in this environment');
  }
  return configured ?? fewest;
};

const shown = (requiredApprovals: number | null) => ({
  changeRequestsEnabled: requiredApprovals !== null,
  requiredApprovals,
});

/** What is told of a setting; nothing, where it is what it was. */
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
