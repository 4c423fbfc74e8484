import type { RecordedEvent } from '@bunting/contracts';
import type { Actor } from './change-request.ts';

const fewest = 1;
const most = 10;

/** How many approvals an environment is to need; none where it is not to be protected. */
export const requiredApprovalsOf = (wanted: {
  readonly changeRequestsEnabled: boolean;
  readonly requiredApprovals?: number | undefined;
}): number | null =>
  wanted.changeRequestsEnabled ? Math.min(most, Math.max(fewest, wanted.requiredApprovals ?? fewest)) : null;

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
