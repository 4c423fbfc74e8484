import type {
  AdminCount,
  CreatedUser,
  UserSearchResults,
  Group,
  InactiveUsers,
  Me,
  Pats,
  Profile,
  User,
  UserPermissions,
  UserRoles,
  Users,
  UsersAndGroups,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { adminToken, startGateway, startedGateway } from '../../../test/started-gateway.ts';

const gateway = startedGateway();
const { send, done, aUser, aPat, emittedBy } = accessApi(() => gateway);
beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop'])));

it('lists a page of the users, in the order of their ids', async () => {
  for (let nth = 0; nth < 3; nth++) await aUser();
  const { users: all } = await done<Users>('GET', 'user-admin');
  const page = async (query: string) => (await done<Users>('GET', `user-admin?${query}`)).users;
  expect(all.length).toBeGreaterThanOrEqual(3);
  expect(await page('limit=2')).toEqual(all.slice(0, 2));
  expect(await page('limit=2&offset=1')).toEqual(all.slice(1, 3));
  expect(await page('offset=2')).toEqual(all.slice(2));
  expect((await send('GET', 'user-admin?limit=1001')).status).toBe(400);
});

describe('a user', () => {
  it('is created with a root role, and found again', async () => {
    const body = { name: 'Mia', username: ' mia ', email: 'Mia@Example.org', rootRole: 'Editor', sendEmail: true };
    let created: CreatedUser | undefined;
    const events = await emittedBy(async () => {
      const answer = await send<CreatedUser>('POST', 'user-admin', body);
      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe(`user-admin/${answer.body.id}`);
      created = answer.body;
    });
    expect(created).toMatchObject({
      name: 'Mia',
      username: 'mia',
      email: 'mia@example.org',
      rootRole: 2,
      accountType: 'User',
      active: true,
      seenAt: null,
      inviteLink: expect.stringMatching(/\/new-user\?token=[0-9a-f]{76}$/),
      emailSent: false,
    });
    const id = created?.id ?? 0;
    const { inviteLink: _link, emailSent: _sent, ...user } = created as CreatedUser;
    expect(await done<User>('GET', `user-admin/${id}`)).toEqual(user);
    const { users, rootRoles } = await done<Users>('GET', 'user-admin');
    expect(users).toContainEqual({ ...user, inviteLink: '' });
    expect(rootRoles.slice(0, 3).map(({ name }) => name)).toEqual(['Admin', 'Editor', 'Viewer']);
    expect(events).toMatchObject([
      {
        type: 'user-created',
        createdBy: 'admin',
        createdByUserId: -42,
        data: { id, name: 'Mia', username: 'mia', email: 'mia@example.org', rootRole: 2 },
        preData: null,
      },
    ]);
  });

  it('needs a name that machines can use, a role that exists, and to be the only one of the name', async () => {
    const refused = async (body: object) => {
      const { status, body: error } = await send('POST', 'user-admin', body);
      return `${status} ${error.message}`;
    };
    await done('POST', 'user-admin', { username: 'taken', email: 'taken@example.org', rootRole: 3 });
    expect(await refused({ name: 'Nameless', rootRole: 3 })).toMatch(/^400 You must specify username or email/);
    expect(await refused({ username: 'Taken', rootRole: 3 })).toMatch(/^400 User already exists.*\/body\/username/);
    expect(await refused({ email: 'TAKEN@example.org', rootRole: 3 })).toMatch(
      /^400 User already exists.*\/body\/email/,
    );
    expect(await refused({ username: 'roleless', rootRole: 4 })).toMatch(
      /^400 There is no root role 4.*\/body\/rootRole/,
    );
    expect(await refused({ username: 'roleless', rootRole: 'Emperor' })).toMatch(/^400 .*\/body\/rootRole/);
    expect(await refused({ email: 'no address', rootRole: 3 })).toMatch(/^400 .*\/body\/email/);
  });

  it('keeps the properties that an update omits', async () => {
    const { id } = await aUser(3);
    const before = await done<User>('GET', `user-admin/${id}`);
    const events = await emittedBy(async () => {
      expect(await done('PUT', `user-admin/${id}`, { name: 'Renamed' })).toEqual({ ...before, name: 'Renamed' });
      await done('PUT', `user-admin/${id}`, { name: 'Renamed' });
      await done('PUT', `user-admin/${id}`, { rootRole: 2 });
    });
    expect(events).toMatchObject([
      { type: 'user-updated', data: { id, name: 'Renamed', rootRole: 3 }, preData: { id, rootRole: 3 } },
      { type: 'user-updated', data: { rootRole: 2 }, preData: { rootRole: 3 } },
    ]);
    expect(events[0]?.preData).not.toHaveProperty('name');
  });

  it('is shown without the names that it does not have, as Unleash shows it', async () => {
    const { id, key, name } = await aUser(3);
    const user = await done<User>('GET', `user-admin/${id}`);
    expect(user).toMatchObject({ username: name, loginAttempts: 0, scimId: null });
    const { user: me } = await done<Me>('GET', 'user', undefined, key);
    const [found] = await done<UserSearchResults>('GET', `user-admin/search?q=${name}`);
    const { users } = await done<Users>('GET', 'user-admin');
    for (const shown of [user, me, found, users.find((one) => one.id === id)]) {
      expect(shown).toMatchObject({ id, username: name });
      expect(shown).not.toHaveProperty('name');
      expect(shown).not.toHaveProperty('email');
    }
    const byMail = await done<CreatedUser>('POST', 'user-admin', { email: `${name}@example.org`, rootRole: 3 });
    expect(byMail).not.toHaveProperty('username');
  });

  it('gains and loses rights with its root role, from the next request on', async () => {
    const { id, key } = await aUser('Viewer');
    expect((await send('GET', 'user-admin', undefined, key)).status).toBe(403);
    await done('PUT', `user-admin/${id}`, { rootRole: 1 });
    expect((await send('GET', 'user-admin', undefined, key)).status).toBe(200);
    await done('PUT', `user-admin/${id}`, { rootRole: 3 });
    expect((await send('GET', 'user-admin', undefined, key)).status).toBe(403);
  });

  it('is let in no more while it is not active', async () => {
    const { id, key } = await aUser();
    await done('PUT', `user-admin/${id}`, { active: false });
    expect((await send('GET', 'user', undefined, key)).status).toBe(401);
    await done('PUT', `user-admin/${id}`, { active: true });
    expect((await send('GET', 'user', undefined, key)).status).toBe(200);
  });

  it('takes its keys with it when it is deleted, leaves its name in the events, and frees the name', async () => {
    const { id, key, name } = await aUser();
    const { secret } = await aPat(key);
    const events = await emittedBy(() => done('DELETE', `user-admin/${id}`));
    for (const one of [key, secret]) expect((await send('GET', 'user', undefined, one)).status).toBe(401);
    expect((await send('GET', `user-admin/${id}`)).status).toBe(404);
    expect((await send('PUT', `user-admin/${id}`, { name: 'x' })).body.message).toBe('No user found');
    expect((await send('DELETE', `user-admin/${id}`)).status).toBe(404);
    expect(events).toMatchObject([{ type: 'user-deleted', data: null, preData: { id, username: name } }]);
    expect((await done<CreatedUser>('POST', 'user-admin', { username: name, rootRole: 3 })).id).toBeGreaterThan(id);
  });

  it('is found by a case-insensitive prefix of its name by any authenticated caller', async () => {
    await done('POST', 'user-admin', { name: 'Zoe_50%', username: 'zz-top', email: 'zoe@example.org', rootRole: 3 });
    const { key } = await aUser();
    const found = async (q: string) =>
      done<UserSearchResults>('GET', `user-admin/search?q=${encodeURIComponent(q)}`, undefined, key);
    for (const q of ['zo', 'ZOE_5', 'zz-', 'zoe@'])
      expect(await found(q)).toMatchObject([{ name: 'Zoe_50%', username: 'zz-top', email: 'zoe@example.org' }]);
    for (const q of ['z', '', '%%', '__', 'oe_']) expect(await found(q)).toEqual([]);
  });

  it('is found by its id by any authenticated caller, as service accounts are, until it is deleted', async () => {
    const { key } = await aUser();
    const named = await done<CreatedUser>('POST', 'user-admin', { name: 'Yara', username: 'yara', rootRole: 3 });
    const robot = await done<CreatedUser>('POST', 'service-account', { username: 'found-robot', rootRole: 3 });
    const ids = [named.id, robot.id, 999_999_999];
    const found = async () => done<UserSearchResults>('GET', `user-admin/search?ids=${ids.join()}`, undefined, key);
    expect(await found()).toMatchObject([{ id: named.id, name: 'Yara', username: 'yara' }, { id: robot.id }]);
    await done('DELETE', `user-admin/${named.id}`);
    expect((await found()).map((user) => user.id)).toEqual([robot.id]);
    for (const faulty of ['', '0', '1,a', '1000000000', Array.from({ length: 101 }, (_, nth) => nth + 1).join()])
      expect((await send('GET', `user-admin/search?ids=${faulty}`)).status).toBe(400);
  });
});

describe('the administration of users', () => {
  it('counts the accounts with the root role Admin, people apart from machines', async () => {
    const before = await done<AdminCount>('GET', 'user-admin/admin-count');
    await aUser(1);
    await aUser(2);
    await done('POST', 'service-account', { username: 'counted-robot', rootRole: 1 });
    expect(await done<AdminCount>('GET', 'user-admin/admin-count')).toEqual({
      password: 0,
      noPassword: before.noPassword + 1,
      service: before.service + 1,
    });
  });

  it('lists users and groups by name only to callers who may grant access to a project', async () => {
    const owner = await aUser();
    expect((await send('GET', 'user-admin/access', undefined, owner.key)).status).toBe(403);
    await done('PUT', `projects/shop/users/${owner.id}/roles`, { roles: [4] });
    const group = await done<Group>('POST', 'groups', { name: 'Accessible', users: [{ user: { id: owner.id } }] });
    const { users, groups } = await done<UsersAndGroups>('GET', 'user-admin/access', undefined, owner.key);
    expect(users).toContainEqual({ id: owner.id, username: owner.name, accountType: 'User' });
    expect(groups).toContainEqual({ id: group.id, name: 'Accessible', rootRole: null, userCount: 1 });
  });

  it('lists users inactive for 180 days and deletes only inactive ones', async () => {
    const [gone, back, active] = [await aUser(), await aUser(), await aUser()];
    await gateway.database.transaction(async ({ query }) => {
      const longAgo = "now() - interval '181 days'";
      await query(
        `update api_user set created_at = ${longAgo}, seen_at = case when id = $2 then ${longAgo} else now() end
         where id = any ($1::integer[])`,
        [[gone.id, back.id], gone.id],
      );
    });
    const { inactiveUsers } = await done<InactiveUsers>('GET', 'user-admin/inactive');
    expect(inactiveUsers.map(({ id }) => id)).toEqual([gone.id]);
    expect(inactiveUsers[0]).toMatchObject({ username: gone.name, patSeenAt: null });
    const events = await emittedBy(() =>
      done('POST', 'user-admin/inactive/delete', { ids: [gone.id, back.id, active.id, 999_999] }),
    );
    expect(events).toMatchObject([{ type: 'user-deleted', preData: { id: gone.id } }]);
    expect((await send('GET', `user-admin/${gone.id}`)).status).toBe(404);
    for (const { id } of [back, active]) expect((await send('GET', `user-admin/${id}`)).status).toBe(200);
  });

  it('reports for each permission whether a user has it, globally or in a project and environment', async () => {
    const { id } = await aUser(2);
    await done('PUT', `projects/shop/users/${id}/roles`, { roles: [5] });
    const held = async (query = '') => {
      const { matrix, ...who } = await done<UserPermissions>('GET', `user-admin/${id}/permissions${query}`);
      const names = (list: UserPermissions['matrix']['root']) =>
        list.filter(({ hasPermission }) => hasPermission).map(({ name }) => name);
      return {
        ...who,
        root: names(matrix.root),
        project: names(matrix.project),
        environment: names(matrix.environment),
      };
    };
    const everywhere = await held();
    expect(everywhere).toMatchObject({ user: { id }, rootRole: { name: 'Editor' }, project: [], environment: [] });
    expect(everywhere.root).toContain('CREATE_PROJECT');
    expect(everywhere.root).not.toContain('ADMIN');
    const inShop = await held('?project=shop&environment=development');
    expect(inShop.project).toContain('CREATE_FEATURE');
    expect(inShop.project).not.toContain('UPDATE_PROJECT');
    expect(inShop.environment).toContain('UPDATE_FEATURE_ENVIRONMENT');
    expect(inShop.projectRoles).toMatchObject([{ name: 'Member' }]);
    const admin = await aUser(1);
    const { matrix } = await done<UserPermissions>('GET', `user-admin/${admin.id}/permissions?project=shop`);
    for (const { hasPermission } of [...matrix.root, ...matrix.project]) expect(hasPermission).toBe(true);
    expect((await send('GET', 'user-admin/999999/permissions')).status).toBe(404);
  });
});

describe('the last administrator', () => {
  const inHours = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);

  it('is neither deleted nor demoted nor disabled without another administrator', async () => {
    const alone = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const inAlone = accessApi(() => alone);
    try {
      const first = alone.firstAdminToken ?? '';
      const create = (username: string) =>
        inAlone.done<CreatedUser>('POST', 'user-admin', { username, rootRole: 1 }, first);
      const [one, other] = [await create('one'), await create('other')];
      const keys = ['user:the-key-of-one', 'user:the-key-of-other'] as const;
      await alone.givenToken({ token: keys[0], userId: one.id });
      const as = (method: string, path: string, body?: unknown, key: string = keys[0]) =>
        inAlone.send(method, path, body, key);

      expect((await as('DELETE', `api-tokens/${encodeURIComponent(first)}`)).status).toBe(200);
      for (const [method, body] of [
        ['DELETE', undefined],
        ['PUT', { rootRole: 2 }],
        ['PUT', { active: false }],
      ] as const) {
        const { status, body: error } = await as(method, `user-admin/${one.id}`, body);
        expect(`${status} ${error.name}`).toBe('403 InvalidOperationError');
        expect(error.message).toMatch(/without an administrator/);
      }
      // The other administrator has no token, and does not count.
      await alone.givenToken({ token: keys[1], userId: other.id });
      expect((await as('PUT', `user-admin/${one.id}`, { rootRole: 2 })).status).toBe(200);
      expect((await as('DELETE', `user-admin/${other.id}`, undefined, keys[1])).status).toBe(403);
    } finally {
      await alone.stop();
    }
  });

  it('keeps the token, and the group that grants the role', async () => {
    const alone = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const inAlone = accessApi(() => alone);
    try {
      const first = alone.firstAdminToken ?? '';
      const { id } = await inAlone.done<CreatedUser>('POST', 'user-admin', { username: 'one', rootRole: 3 }, first);
      const users = [{ user: { id } }];
      const group = await inAlone.done<Group>('POST', 'groups', { name: 'Admins', rootRole: 1, users }, first);
      const expect403 = async (key: string, writes: readonly (readonly [string, string, unknown?])[]) => {
        for (const [method, path, body] of writes) {
          const { status, body: error } = await inAlone.send(method, path, body, key);
          expect(`${method} ${path} ${status} ${error.name}`).toBe(`${method} ${path} 403 InvalidOperationError`);
        }
      };
      const token = `api-tokens/${encodeURIComponent(first)}`;
      await expect403(first, [
        ['DELETE', token],
        ['PUT', token, { expiresAt: '2020-01-01T00:00:00.000Z' }],
        ['PUT', token, { expiresAt: inHours(23).toISOString() }],
      ]);

      const key = 'user:the-key-of-one';
      await alone.givenToken({ token: key, userId: id });
      expect((await inAlone.send('DELETE', token, undefined, key)).status).toBe(200);
      const { pats } = await inAlone.done<Pats>('GET', 'user/tokens', undefined, key);
      await expect403(key, [
        ['DELETE', `user/tokens/${pats[0]?.id}`],
        ['DELETE', `groups/${group.id}`],
        ['PUT', `groups/${group.id}`, { name: 'Admins', rootRole: 3, users }],
        ['PUT', `groups/${group.id}`, { name: 'Admins', rootRole: 1, users: [] }],
      ]);
      const renamed = await inAlone.send('PUT', `groups/${group.id}`, { name: 'Owners', rootRole: 1 }, key);
      expect(renamed.status).toBe(200);
    } finally {
      await alone.stop();
    }
  });

  it('is not one whose token expires within a day', async () => {
    const alone = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const inAlone = accessApi(() => alone);
    try {
      const first = alone.firstAdminToken ?? '';
      const { id } = await inAlone.done<CreatedUser>('POST', 'user-admin', { username: 'one', rootRole: 1 }, first);
      const deleteFirst = () =>
        inAlone.send('DELETE', `api-tokens/${encodeURIComponent(first)}`, undefined, 'user:the-key-of-one');
      await alone.givenToken({ token: 'user:the-key-of-one', userId: id, expiresAt: inHours(23) });
      expect((await deleteFirst()).status).toBe(403);
      await alone.givenToken({ token: 'user:another-key-of-one', userId: id, expiresAt: inHours(25) });
      expect((await deleteFirst()).status).toBe(200);
    } finally {
      await alone.stop();
    }
  });

  it('stays when two administrators concurrently remove each other', async () => {
    const alone = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const inAlone = accessApi(() => alone);
    try {
      const first = alone.firstAdminToken ?? '';
      const admins = [];
      for (const username of ['one', 'other']) {
        const { id } = await inAlone.done<CreatedUser>('POST', 'user-admin', { username, rootRole: 1 }, first);
        await alone.givenToken({ token: `user:the-key-of-${username}`, userId: id });
        admins.push({ id, key: `user:the-key-of-${username}` });
      }
      const [one, other] = admins as [(typeof admins)[0], (typeof admins)[0]];
      await inAlone.done('DELETE', `api-tokens/${encodeURIComponent(first)}`, undefined, one.key);
      const both = await Promise.all([
        inAlone.send('DELETE', `user-admin/${other.id}`, undefined, one.key),
        inAlone.send('DELETE', `user-admin/${one.id}`, undefined, other.key),
      ]);
      expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
      const left = await Promise.all(admins.map(({ key }) => inAlone.send('GET', 'user-admin', undefined, key)));
      expect(left.filter(({ status }) => status === 200)).toHaveLength(1);
    } finally {
      await alone.stop();
    }
  });
});

describe('the caller', () => {
  it('reads its own user and permissions, without a secret', async () => {
    const { id, key, name } = await aUser(2);
    const me = await done<Me>('GET', 'user', undefined, key);
    expect(me.user).toMatchObject({ id, username: name, isAPI: false });
    expect(me.permissions).toContainEqual({ permission: 'CREATE_FEATURE', project: 'default' });
    const admin = await done<Me>('GET', 'user');
    expect(admin).toMatchObject({
      user: { id: -42, isAPI: true, name: 'admin' },
      permissions: [{ permission: 'ADMIN' }],
    });
    expect(JSON.stringify([me, admin])).not.toContain(key);
    expect(JSON.stringify(admin)).not.toContain(adminToken.slice(4));
  });

  it('gets their roles, everywhere and in a project', async () => {
    const { id, key } = await aUser(2);
    await done('PUT', `projects/shop/users/${id}/roles`, { roles: [4, 7] });
    expect(await done<Profile>('GET', 'user/profile', undefined, key)).toMatchObject({
      rootRole: { id: 2, name: 'Editor', type: 'root' },
      projects: ['shop'],
    });
    const rolesAt = async (query: string, request = key) =>
      (await done<UserRoles>('GET', `user/roles${query}`, undefined, request)).roles.map(({ name }) => name);
    expect(await rolesAt('')).toEqual(['Editor']);
    expect(await rolesAt('?projectId=shop')).toEqual(['Owner', 'Change reviewer']);
    expect(await rolesAt('?projectId=elsewhere')).toEqual([]);
    expect(await rolesAt('?projectId=shop', adminToken)).toEqual(['Admin']);
    const admin = await aUser(1);
    expect(await rolesAt('?projectId=shop', admin.key)).toEqual(['Admin']);
  });

  it('gets every project as an administrator', async () => {
    const { key } = await aUser(1);
    for (const request of [key, adminToken])
      expect(await done<Profile>('GET', 'user/profile', undefined, request)).toMatchObject({
        rootRole: { id: 1, name: 'Admin', type: 'root' },
        projects: ['default', 'shop'],
        features: [],
      });
  });
});
