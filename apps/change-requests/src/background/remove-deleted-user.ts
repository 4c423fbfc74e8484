import type { CallContext } from '@bunting/bus';
import { isClosedState } from '@bunting/contracts';
import { removeUserFromRequest } from '../domain/transitions/remove-user-from-request.ts';
import { takeBackLocked } from '../reviews/endpoints.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';

/** Removes a deleted user from a request that is neither closed nor being applied. */
export const removeDeletedUser =
  (transaction: UnitOfWork) =>
  ({ id, userId }: { readonly id: number; readonly userId: number }, context: CallContext): Promise<void> =>
    transaction(context, async (tx) => {
      const { requests } = tx;
      const before = await requests.getOfAnyProjectForUpdate(id);
      if (before === undefined || isClosedState(before.state) || before.applying !== null) return;
      const mayApprove = (id: number): boolean => id !== userId;
      const request = await takeBackLocked(tx, before, { minApprovals: before.minApprovals, mayApprove });
      await requests.save(removeUserFromRequest(request, userId, requests.now()));
    });
