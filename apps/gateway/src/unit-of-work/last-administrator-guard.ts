import { refusal } from '@bunting/contracts';
import { advisoryLock, onlyRow, type Tx } from '@bunting/database';
import { isAdministratorSql } from '../access/rights/rights-store.ts';

/** PostgreSQL interval for which a token must stay valid: one that expires sooner would leave no administrator soon after the write. */
const minTokenValidity = '1 day';

const selectIsLeft = `
  select exists (
    select from api_user u
    where u.is_active and u.deleted_at is null and not u.is_service
      and exists (select from user_password p where p.user_id = u.id)
      and not exists (select from gateway_setting where name = 'simple' and value->'disabled' = 'true')
      and exists (
        select from user_grant g where g.user_id = u.id and ${isAdministratorSql('g')}))
  or exists (
    select from api_token t left join api_user u on u.id = t.user_id
    where t.revoked_at is null and (t.expires_at is null or t.expires_at >= now() + interval '${minTokenValidity}')
      and (t.kind = 'admin' or u.is_active and u.deleted_at is null and exists (
        select from user_grant g where g.user_id = u.id and ${isAdministratorSql('g')}))) as left`;

/**
 * Refuses a transaction that would leave no administrator. The repositories mark each write that takes rights away, so that no operation
 * can omit the check; a transaction without such a write is not checked. In tests a write that is not marked fails by triggers
 * (`test/loss-of-rights-triggers.ts`).
 */
export function lastAdministratorGuard({ query }: Pick<Tx, 'query'>) {
  let takesRightsAway = false;
  /** Serialises the transactions that take rights away, so that two administrators who concurrently remove each other cannot both succeed. */
  const lock = () => advisoryLock({ query }, 'administrators');
  /**
   * Whether one administrator is left: an admin token, or an admin with a token, that stays valid for `minTokenValidity`, or an admin with a
   * password while passwords are accepted. One who can sign in through an identity provider only does not count: the provider may fail.
   */
  const isAdministratorLeft = async (): Promise<boolean> => {
    return onlyRow(await query<{ left: boolean }>(selectIsLeft)).left;
  };

  return {
    /** Whether an administrator would be left after a write. The write is rolled back. */
    wouldLeaveAdministrator: async (write: () => Promise<void>): Promise<boolean> => {
      // Before the savepoint: its rollback releases the locks that were taken after it.
      await lock();
      await query('savepoint before_write');
      await write();
      const isLeft = await isAdministratorLeft();
      await query('rollback to savepoint before_write');
      return isLeft;
    },
    /** Marks the transaction as one that takes away rights, or the means to use them, so that `check` applies. */
    markLossOfRights: (): void => {
      takesRightsAway = true;
    },
    /** Called at the end of the transaction. @throws Refusal `InvalidOperationError` when it would leave no administrator */
    check: async (): Promise<void> => {
      if (!takesRightsAway) return;
      await lock();
      if (await isAdministratorLeft()) return;
      throw refusal(
        'InvalidOperationError',
        'This would leave Bunting without an administrator. First create another admin with a password, or with a token that is valid for at least a day, or such an admin token.',
      );
    },
  };
}
export type LastAdministratorGuard = ReturnType<typeof lastAdministratorGuard>;
