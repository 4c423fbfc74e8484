import { implement } from '@bunting/bus';
import { DeleteInactiveUsers, ListInactiveUsers } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { toldUser } from './told-user.ts';

export const listInactiveUsersEndpoint = (work: UnitOfWork) =>
  implement(ListInactiveUsers, (asked) =>
    work(asked, async ({ people }) => ({ version: 1 as const, inactiveUsers: await people.inactive() })),
  );

export const deleteInactiveUsersEndpoint = (work: UnitOfWork) =>
  implement(DeleteInactiveUsers, (asked) =>
    work(asked, async ({ people, requireAdministratorLeft, tell }) => {
      // The use of the caller's own key may not be written down yet.
      const ids = asked.body.ids.filter((id) => id !== asked.caller.id);
      for (const { id } of await people.inactive(ids)) {
        const user = await people.find(id, 'users');
        if (user === undefined) continue;
        await people.remove(id);
        tell({ type: 'user-deleted', preData: toldUser(user) });
      }
      await requireAdministratorLeft();
      return null;
    }),
  );
