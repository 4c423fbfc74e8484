import { refusal } from '@bunting/contracts';
import type { Tx } from '@bunting/database';

const anyLeft = `
  select exists (
    select from api_token t left join api_user u on u.id = t.user_id
    where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and (t.kind = 'admin' or u.is_active and u.deleted_at is null and exists (
        select from user_grant g where g.user_id = u.id and g.permission = 'ADMIN' and g.project is null))) as left`;

/**
 * Makes sure that somebody can still administer Bunting once this work is done: there is an admin token that works, or an admin who has
 * a key. Two who take away each other's rights at once do not both succeed.
 * @throws Refusal `InvalidOperationError` when there would be nobody.
 */
export const requireAdministratorLeft = async ({ query }: Pick<Tx, 'query'>): Promise<void> => {
  await query('select pg_advisory_xact_lock(hashtext($1))', ['administrators']);
  const [row] = await query<{ left: boolean }>(anyLeft);
  if (row?.left === true) return;
  throw refusal(
    'InvalidOperationError',
    'This would leave nobody who can administer Bunting. Create another admin with a key, or an admin token, first.',
  );
};
