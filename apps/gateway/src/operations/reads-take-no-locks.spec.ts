import type { Group, Role } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../test/access-api.ts';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';

let gateway: StartedGateway;
const { send, done, aUser } = accessApi(() => gateway);

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind(fakeProjectEndpoints(['default']));
});
afterAll(() => gateway.stop());

it('reads users, groups, roles and access while a transaction has locked them', async () => {
  const { id: user, key } = await aUser();
  const { id: account } = await done<{ id: number }>('POST', 'service-account', { username: 'robot', rootRole: 3 });
  const { id: group } = await done<Group>('POST', 'groups', { name: 'those at work', users: [] });
  const { id: role } = await done<Role>('POST', 'roles', { name: 'a role at work', permissions: [] });
  const paths = [`user-admin/${user}`, `service-account/${account}/token`, `groups/${group}`, `roles/${role}`];
  await gateway.database.transaction(async ({ query }) => {
    await query('select from api_user where id = any ($1::integer[]) for update', [[user, account]]);
    await query('select from user_group where id = $1 for update', [group]);
    await query('select from role where id = $1 for update', [role]);
    await query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['project access', 'default']);
    for (const path of [...paths, 'projects/default/access']) {
      expect([path, (await send('GET', path)).status]).toEqual([path, 200]);
    }
    for (const path of ['user', 'user/profile']) {
      expect([path, (await send('GET', path, undefined, key)).status]).toEqual([path, 200]);
    }
  });
});
