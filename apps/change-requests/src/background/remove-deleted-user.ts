import type { CallContext } from '@bunting/bus';
import { isClosedState } from '@bunting/contracts';
import { removeUserFromRequest } from '../domain/transitions/remove-user-from-request.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';

/** Removes a deleted user from a request that is neither closed nor being applied. */
export const removeDeletedUser =
  (transaction: UnitOfWork) =>
  ({ id, userId }: { readonly id: number; readonly userId: number }, context: CallContext): Promise<void> =>
    transaction(context, async ({ requests }) => {
      const before = await requests.getOfAnyProjectForUpdate(id);
      if (before === undefined || isClosedState(before.state) || before.applying !== null) return;
      await requests.save(removeUserFromRequest(before, userId, requests.now()));
    });
