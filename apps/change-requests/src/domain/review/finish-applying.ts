import type { AppliedChanges } from '@bunting/contracts';
import type { ChangeRequest } from '../change-request.ts';
import { abandonApplying, type CommandResult, endApplying } from './execute-command.ts';

/** The reason of a failed run, as users see it. */
export const failureReason = (conflicts: AppliedChanges['conflicts']): string =>
  `conflicts: ${conflicts[0]?.message ?? 'unknown'} (${conflicts.length} in total)`;

/**
 * Ends an attempt to apply a request with the result of the features service. A scheduled run that would overwrite newer edits is suspended,
 * and one in conflict fails; a request that a user applies returns to its state before the attempt.
 */
export const finishApplying = (request: ChangeRequest, result: AppliedChanges, now: Date): CommandResult => {
  switch (result.outcome) {
    case 'applied':
      return endApplying(request, now);
    case 'overwrites': {
      const reason = result.conflicts[0]?.message ?? 'Applying would overwrite newer edits';
      return abandonApplying(request, now, { command: 'suspend', reason });
    }
    default:
      return abandonApplying(request, now, { command: 'fail', reason: failureReason(result.conflicts) });
  }
};
