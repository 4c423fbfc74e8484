import type { InstanceStatistics } from '@bunting/contracts';
import { onlyRow, prepared, type ReadDatabase } from '@bunting/database';

type GatewayStatistics = Pick<
  InstanceStatistics,
  | 'users'
  | 'serviceAccounts'
  | 'apiTokens'
  | 'activeUsers'
  | 'roles'
  | 'customRootRoles'
  | 'customRootRolesInUse'
  | 'groups'
>;

function activeWithinSql(days: number): string {
  return `'last${days}', count(*) filter (where not is_service and seen_at > now() - interval '${days} days')`;
}

const counts = prepared(`
  with account as (
    select count(*) filter (where not is_service) as users, count(*) filter (where is_service) as service,
      json_build_object(${[7, 30, 60, 90].map(activeWithinSql).join(', ')}) as active
    from api_user where deleted_at is null),
  token as (
    select json_build_object('admin', count(*) filter (where kind = 'admin'),
      'client', count(*) filter (where kind = 'client'), 'frontend', count(*) filter (where kind = 'frontend')) as kinds
    from api_token where revoked_at is null),
  custom as (
    select count(*) as made, count(*) filter (where
      exists (select from api_user where root_role_id = role.id and deleted_at is null)
      or exists (select from user_group where root_role_id = role.id)) as used
    from role where type = 'root-custom')
  select account.users, account.service as "serviceAccounts", token.kinds as "apiTokens", account.active as "activeUsers",
    (select count(*) from role) as roles, custom.made as "customRootRoles", custom.used as "customRootRolesInUse",
    (select count(*) from user_group) as groups
  from account, token, custom`);

/** Counts accounts, tokens, roles and groups in one statement, for the statistics of the instance. */
export async function readGatewayStatistics(database: ReadDatabase): Promise<GatewayStatistics> {
  return onlyRow(await database.read<GatewayStatistics>(counts, []), 'count-accounts');
}

// The token key never changes, so its fingerprint identifies the installation; the id is a hash of it and reveals nothing.
const selectInstanceId = prepared(
  "select md5('instance' || encode(fingerprint, 'hex'))::uuid as id from gateway_secret where name = 'token key'",
);

/** The id of this installation: the same on every replica for the lifetime of the database. */
export async function instanceId(database: ReadDatabase): Promise<string> {
  const [row] = await database.read<{ id: string }>(selectInstanceId, []);
  if (row === undefined)
    throw new Error('The table gateway_secret has no token key: the gateway stores it at its first start.');
  return row.id;
}
