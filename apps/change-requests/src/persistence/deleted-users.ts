import type { Tx } from '@bunting/database';
import { ChangeEntity, ChangeRequestEntity, DeletedUserEntity } from '../unit-of-work/entities.ts';

/** Removes the deleted users: after a restored backup of the gateway their ids may be assigned to other users. Their events are replayed. */
export const clearDeletedUsers = async ({ em }: Tx): Promise<void> => {
  await em.nativeDelete(DeletedUserEntity, {});
};

/** Stores deleted users, and removes their names from their proposals. */
export const addDeletedUsersAndEraseNames = async ({ em }: Tx, userIds: readonly number[]): Promise<void> => {
  await em.upsertMany(
    DeletedUserEntity,
    userIds.map((userId) => ({ userId })),
    { onConflictAction: 'ignore' },
  );
  const theirs = { createdBy: { id: { $in: [...userIds] } } };
  await em.nativeUpdate(ChangeRequestEntity, theirs, { createdBy: { name: null, username: null } });
  await em.nativeUpdate(ChangeEntity, theirs, { createdBy: { name: null, username: null } });
};
