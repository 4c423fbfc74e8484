import { call, systemContext } from '@bunting/bus';
import {
  type ApiToken,
  type AvailablePermissions,
  CopyEnvironmentPermissions,
  EndEnvironmentAccess,
  type Group,
  type RoleHolders,
  type Roles,
  type RoleWithPermissions,
  type SavedRole,
  systemCaller,
  type User,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { startedGateway } from '../../../test/started-gateway.ts';

describe('roles and groups', () => {
  const gateway = startedGateway();
  const { send, done, aUser, emittedBy } = accessApi(() => gateway);
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop'])));

  const aRole = (name: string, permissions: object[], type = 'custom'): Promise<SavedRole> =>
    done<SavedRole>('POST', 'roles', { name, type, permissions });

  describe('the predefined roles', () => {
    it('exist from the start, and cannot be changed', async () => {
      const { roles } = await done<Roles>('GET', 'roles');
      expect(roles.slice(0, 8).map(({ id, name, type }) => `${id} ${name} ${type}`)).toEqual([
        '1 Admin root',
        '2 Editor root',
        '3 Viewer root',
        '4 Owner project',
        '5 Member project',
        '6 Reader project',
        '7 Change reviewer project',
        '8 Change releaser project',
      ]);
      for (const { id, name } of roles.slice(0, 8)) {
        for (const [method, body] of [
          ['DELETE', undefined],
          ['PUT', { name, permissions: [] }],
        ] as const) {
          const { status, body: error } = await send(method, `roles/${id}`, body);
          expect(`${status} ${error.name}`).toBe('403 InvalidOperationError');
        }
      }
      const releaser = await done<RoleWithPermissions>('GET', 'roles/8');
      expect(releaser.permissions.map(({ name }) => name)).toEqual(['APPLY_CHANGE_REQUEST', 'APPROVE_CHANGE_REQUEST']);
    });
  });

  describe('a custom role', () => {
    it('grants its permissions, changes for all of its holders, and can be deleted when unused', async () => {
      const events = await emittedBy(async () => {
        const role = await aRole(
          'Segment keeper',
          [{ name: 'CREATE_SEGMENT' }, { name: 'CREATE_SEGMENT' }],
          'root-custom',
        );
        expect(role).toMatchObject({ type: 'root-custom', description: '', permissions: [{ name: 'CREATE_SEGMENT' }] });
        const { id, key } = await aUser('segment KEEPER');
        const may = async () =>
          (await done<{ permissions: object[] }>('GET', 'user', undefined, key)).permissions.map((grant) => ({
            ...grant,
          }));
        expect(await may()).toEqual([{ permission: 'CREATE_SEGMENT' }]);
        await done('PUT', `roles/${role.id}`, { name: 'Reader of roles', permissions: [{ name: 'READ_ROLE' }] });
        expect(await may()).toEqual([{ permission: 'READ_ROLE' }]);
        const inUse = await send('DELETE', `roles/${role.id}`);
        expect(inUse.status).toBe(409);
        expect(inUse.body.message).toContain('users(1)');
        await done('DELETE', `user-admin/${id}`);
        await done('DELETE', `roles/${role.id}`);
        expect((await send('GET', `roles/${role.id}`)).status).toBe(404);
      });
      expect(events.map(({ type }) => type).filter((type) => type.startsWith('role'))).toEqual([
        'role-created',
        'role-updated',
        'role-deleted',
      ]);
    });

    it('is returned with 200 and under roles when it is saved, as clients of Unleash Enterprise expect', async () => {
      const body = { name: 'Enveloped', description: 'of a client', permissions: [{ name: 'CREATE_FEATURE' }] };
      const created = await send<SavedRole>('POST', 'roles', body);
      expect(created.status).toBe(200);
      const { id } = created.body;
      const role = { id, name: 'Enveloped', description: 'of a client', type: 'custom' };
      expect(created.body).toMatchObject({ version: 1, roles: role, ...role });
      expect(created.headers.get('location')).toBe(`roles/${id}`);
      const changed = await send<SavedRole>('PUT', `roles/${id}`, { ...body, name: 'Enveloped again' });
      expect(changed.status).toBe(200);
      expect(changed.body).toMatchObject({ version: 1, roles: { ...role, name: 'Enveloped again' } });
    });

    it('describes each of its permissions as the catalogue does', async () => {
      const right = { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' };
      const { id } = await aRole('Described', [{ name: 'CREATE_FEATURE' }, right]);
      const { permissions } = await done<RoleWithPermissions>('GET', `roles/${id}`);
      const catalogue = (await done<AvailablePermissions>('GET', 'permissions')).permissions;
      expect(permissions).toEqual([
        catalogue.project.find(({ name }) => name === 'CREATE_FEATURE'),
        catalogue.environments[0]?.permissions.find(({ name }) => name === 'UPDATE_FEATURE_ENVIRONMENT'),
      ]);
      for (const permission of permissions) {
        expect(permission).toMatchObject({ id: expect.any(Number), displayName: expect.any(String) });
      }
      const admin = await done<RoleWithPermissions>('GET', 'roles/1');
      expect(admin.permissions).toEqual([{ id: 1, name: 'ADMIN', displayName: 'Admin', type: 'root' }]);
    });

    it('of the type root-custom grants permissions of projects in every project', async () => {
      await aRole('Keeper of projects', [{ name: 'CREATE_PROJECT' }, { name: 'UPDATE_PROJECT' }], 'root-custom');
      const { key } = await aUser('Keeper of projects');
      const { permissions } = await done<{ permissions: object[] }>('GET', 'user', undefined, key);
      expect(permissions).toEqual(
        expect.arrayContaining([{ permission: 'CREATE_PROJECT' }, { permission: 'UPDATE_PROJECT' }]),
      );
      expect((await send('GET', 'projects/shop/access', undefined, key)).status).toBe(200);
    });

    it.each([
      ['custom', { name: 'CREATE_SEGMENT' }, '/body/permissions/0/name'],
      ['root-custom', { name: 'ADMIN' }, '/body/permissions/0/name'],
      ['custom', { name: 'ADMIN' }, '/body/permissions/0/name'],
      ['custom', { name: 'CLIENT' }, '/body/permissions/0/name'],
      ['custom', { name: 'EVERYTHING' }, '/body/permissions/0/name'],
      ['custom', { name: 'CREATE_FEATURE', environment: 'development' }, '/body/permissions/0/environment'],
      ['custom', { name: 'UPDATE_FEATURE_STRATEGY', environment: 'nope' }, 'Environment=nope does not exist'],
    ])('of the type %s cannot grant %j', async (type, permission, property) => {
      const { status, body } = await send('POST', 'roles', { name: 'wrong', type, permissions: [permission] });
      expect(`${status} ${body.name}`).toBe('400 ValidationError');
      expect(body.message).toContain(property);
    });

    it('is refused with the name of another role', async () => {
      await aRole('Unique', []);
      expect((await send('POST', 'roles', { name: 'unique', permissions: [] })).status).toBe(409);
      expect((await send('POST', 'roles/validate', { name: ' UNIQUE ' })).status).toBe(409);
      expect((await send('POST', 'roles/validate', { name: 'Another' })).status).toBe(200);
      expect((await send('POST', 'roles/validate', { name: ' ' })).status).toBe(400);
    });
  });

  it('the catalogue of permissions contains all permissions and all environments', async () => {
    const { permissions } = await done<AvailablePermissions>('GET', 'permissions');
    expect(permissions.root).toContainEqual({
      id: 12,
      name: 'CREATE_PROJECT',
      displayName: 'Create projects',
      type: 'root',
    });
    expect(permissions.project.map(({ name }) => name)).toContain('CREATE_FEATURE');
    expect(permissions.environments.map(({ name }) => name)).toEqual(['development', 'production']);
    expect(permissions.environments[0]?.permissions).toContainEqual(
      expect.objectContaining({ name: 'APPROVE_CHANGE_REQUEST', environment: 'development' }),
    );
  });

  describe('a group', () => {
    const members = (...ids: number[]) => ids.map((id) => ({ user: { id } }));

    it('grants its members its root role and its roles in projects while they are members', async () => {
      const [one, other] = [await aUser(), await aUser()];
      const group = await done<Group>('POST', 'groups', {
        name: 'Crew',
        description: 'all hands',
        rootRole: 2,
        users: members(one.id),
      });
      expect(group).toMatchObject({ name: 'Crew', description: 'all hands', rootRole: 2, userCount: 1, projects: [] });
      await done('PUT', `projects/shop/groups/${group.id}/roles`, { roles: [8] });
      const may = async (key: string) =>
        (await done<{ permissions: { permission: string }[] }>('GET', 'user', undefined, key)).permissions.map(
          ({ permission }) => permission,
        );
      expect(await may(one.key)).toEqual(expect.arrayContaining(['CREATE_SEGMENT', 'APPLY_CHANGE_REQUEST']));
      expect(await may(other.key)).toEqual([]);
      await done('PUT', `groups/${group.id}`, { name: 'Crew', rootRole: 2, users: members(other.id) });
      expect(await may(one.key)).toEqual([]);
      expect(await may(other.key)).toContain('CREATE_SEGMENT');
      expect(await done<Group>('GET', `groups/${group.id}`)).toMatchObject({ projects: ['shop'], userCount: 1 });
      await done('DELETE', `groups/${group.id}`);
      expect(await may(other.key)).toEqual([]);
      expect((await send('GET', `groups/${group.id}`)).status).toBe(404);
    });

    it('emits events of members who joined and left', async () => {
      const [one, other] = [await aUser(), await aUser()];
      const events = await emittedBy(async () => {
        const { id } = await done<Group>('POST', 'groups', { name: 'Told', users: members(one.id) });
        await done('PUT', `groups/${id}`, { name: 'Told', users: members(other.id) });
        await done('DELETE', `groups/${id}`);
      });
      expect(events.map(({ type }) => type)).toEqual([
        'group-created',
        'group-updated',
        'group-user-added',
        'group-user-removed',
        'group-deleted',
      ]);
      expect(events[2]?.data).toMatchObject({ userId: other.id });
      expect(events[3]?.preData).toMatchObject({ userId: one.id });
    });

    it('keeps its mappings to groups of an identity provider', async () => {
      const body = { name: 'Mapped', mappingsSSO: ['engineers', 'on-call', 'engineers', ' ', 'null'] };
      const events = await emittedBy(async () => {
        const group = await done<Group>('POST', 'groups', body);
        expect(group.mappingsSSO).toEqual(['engineers', 'on-call', ' ', 'null']);
        expect(await done<Group>('GET', `groups/${group.id}`)).toEqual(group);
        const changed = await done<Group>('PUT', `groups/${group.id}`, { name: 'Mapped', mappingsSSO: ['on-call'] });
        expect(changed.mappingsSSO).toEqual(['on-call']);
      });
      expect(events).toMatchObject([
        { type: 'group-created', data: { mappingsSSO: ['engineers', 'on-call', ' ', 'null'] } },
        { type: 'group-updated', data: { mappingsSSO: ['on-call'] } },
      ]);
    });

    it('requires a unique name, existing members and an existing root role', async () => {
      await done('POST', 'groups', { name: 'Taken' });
      expect((await send('POST', 'groups', { name: 'taken' })).status).toBe(409);
      expect((await send('POST', 'groups', { name: 'x', users: members(999_999) })).body.message).toContain(
        '/body/users',
      );
      expect((await send('POST', 'groups', { name: 'x', rootRole: 4 })).body.message).toContain('/body/rootRole');
      const { id } = await aUser();
      await done('DELETE', `user-admin/${id}`);
      expect((await send('POST', 'groups', { name: 'x', users: members(id) })).status).toBe(400);
    });

    it('lists its members with the properties of users', async () => {
      const { id } = await aUser();
      const user = await done<User>('GET', `user-admin/${id}`);
      const group = await done<Group>('POST', 'groups', { name: 'Shown', users: members(id) });
      expect(group.users).toMatchObject([{ user }]);
    });
  });

  it('administrators see who may do what, everywhere and in a project, and through which role', async () => {
    const { id, key } = await aUser('Viewer');
    const group = await done<Group>('POST', 'groups', { name: 'Owners of the shop', users: [{ user: { id } }] });
    await done('PUT', `projects/shop/groups/${group.id}/roles`, { roles: [4] });
    const everywhere = await done<RoleHolders>('GET', 'access/holders');
    expect(everywhere.users.find((user) => user.id === id)?.through).toEqual([{ role: 3, group: null }]);
    const inShop = await done<RoleHolders>('GET', 'projects/shop/access/holders');
    expect(inShop.users.find((user) => user.id === id)?.through).toEqual([
      { role: 3, group: null },
      { role: 4, group: group.id },
    ]);
    expect(inShop.groups).toContainEqual({ id: group.id, name: 'Owners of the shop' });
    expect(inShop.roles.find((role) => role.id === 4)?.permissions).toContainEqual({ name: 'UPDATE_PROJECT' });
    expect((await send('GET', 'access/holders', undefined, key)).status).toBe(403);
    expect((await send('GET', 'projects/shop/access/holders', undefined, key)).status).toBe(200);
    expect((await send('GET', 'projects/none/access/holders')).status).toBe(404);
  });
});

describe('permissions in environments', () => {
  const gateway = startedGateway();
  const { done } = accessApi(() => gateway);
  beforeAll(() => gateway.behind(fakeProjectEndpoints([])));

  it('roles get the permissions of one environment in another, once', async () => {
    const permissions = [
      { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
      { name: 'CREATE_FEATURE_STRATEGY', environment: 'production' },
    ];
    await done('POST', 'roles', { name: 'Releaser', description: '', type: 'custom', permissions });
    const copy = () =>
      call(
        gateway.bus,
        CopyEnvironmentPermissions,
        { body: { from: 'development', to: 'lab' } },
        { ...systemContext(60_000), caller: systemCaller },
      );
    const inLab = () =>
      gateway.database.transaction(({ query }) =>
        query("select permission from role_permission where environment = 'lab' order by permission"),
      );
    const updates = async () => {
      const text = "select type from outbox where type = 'role-updated'";
      return (await gateway.database.transaction(({ query }) => query(text))).length;
    };
    for (let nth = 0; nth < 2; nth++) {
      await copy();
      expect(await inLab()).toEqual([{ permission: 'UPDATE_FEATURE_ENVIRONMENT' }]);
      expect(await updates()).toBe(1);
    }
  });

  it('a new environment has no token and no permission of an earlier one of its name; tokens of the settings stay', async () => {
    await gateway.database.transaction(({ query }) =>
      query(`insert into api_token (kind, name, selector, hash, shown, environment)
           values ('client', 'of settings', 'of settings', sha256('x'), 'of settings', 'production')`),
    );
    await done('POST', 'api-tokens', { tokenName: 'earlier', type: 'client', environment: 'production' });
    await done('POST', 'api-tokens', { tokenName: 'elsewhere', type: 'client', environment: 'development' });
    await call(
      gateway.bus,
      EndEnvironmentAccess,
      { body: { environment: 'production' } },
      { ...systemContext(60_000), caller: systemCaller },
    );
    const { tokens } = await done<{ tokens: ApiToken[] }>('GET', 'api-tokens');
    const names = tokens.map(({ tokenName }) => tokenName);
    expect(names).toEqual(expect.arrayContaining(['of settings', 'elsewhere']));
    expect(names).not.toContain('earlier');
    const grants = "select from role_permission where environment = 'production'";
    expect(await gateway.database.transaction(({ query }) => query(grants))).toEqual([]);
  });
});
