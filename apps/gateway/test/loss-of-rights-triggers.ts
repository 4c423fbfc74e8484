import { withClient } from '@bunting/testing';

/** The writes that may take the rights of an administrator away, or the means to use them: tables, with events and their conditions. */
const losses: readonly (readonly [table: string, event: string, condition?: string])[] = [
  ['api_user', 'delete'],
  [
    'api_user',
    'update',
    `old.deleted_at is null and (old.root_role_id <> new.root_role_id or old.is_active and not new.is_active
      or new.deleted_at is not null)`,
  ],
  ['user_password', 'delete'],
  ['api_token', 'delete', "old.kind in ('admin', 'user')"],
  [
    'api_token',
    'update',
    `old.kind in ('admin', 'user') and new.configured is distinct from 'replaced'
      and (old.revoked_at is null and new.revoked_at is not null or old.expires_at is distinct from new.expires_at)`,
  ],
  ['user_group', 'delete', 'old.root_role_id is not null'],
  ['user_group', 'update', 'old.root_role_id is distinct from new.root_role_id and old.root_role_id is not null'],
  ['group_member', 'delete'],
  ['role_permission', 'delete', "old.permission = 'ADMIN'"],
  ['gateway_setting', 'insert or update', `new.name = 'simple' and new.value->'disabled' = 'true'`],
];

/**
 * SQL: the transactions of a gateway that write what `losses` has fail at their commit, unless they hold the lock of `lastAdministratorGuard`:
 * without it they could remove the last administrator. A password may be deleted while its user has another one, and the token of an earlier
 * value of `BUNTING_ADMIN_TOKEN` may be revoked for that of the new one.
 */
const statements = [
  `create function require_guard_of_last_administrator() returns trigger language plpgsql as $$
    begin
      if current_setting('application_name') <> 'bunting-gateway' then return null; end if;
      if tg_table_name = 'user_password' then
        if exists (select from user_password where user_id = old.user_id) then return null; end if;
      end if;
      if not exists (
        select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'
        and (classid::bigint << 32 | objid::bigint) = hashtext('administrators')) then
        raise exception 'The % of % takes rights away: its repository must call markLossOfRights.', lower(tg_op), tg_table_name;
      end if;
      return null;
    end $$`,
  ...losses.map(
    ([table, event, condition], index) =>
      `create constraint trigger loss_of_rights_${index} after ${event} on ${table}
        deferrable initially deferred for each row ${condition === undefined ? '' : `when (${condition})`}
        execute function require_guard_of_last_administrator()`,
  ),
];

/** Lets writes of the gateway fail that take rights away without being marked by `markLossOfRights`, however many administrators are left. */
export const addLossOfRightsTriggers = async (url: string): Promise<void> => {
  await withClient(url, (client) => client.query(statements.join(';\n')));
};

/** Identifies the triggers. */
export const lossOfRightsTriggersKey = JSON.stringify(statements);
