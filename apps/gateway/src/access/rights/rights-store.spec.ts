import { type Caller, may, permissions, type Permission } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGatewayDatabase } from '../../../test/started-gateway.ts';
import { predefinedRole } from '../roles/role.ts';
import { type AccessReader, accessReader } from './rights-store.ts';

const { admin, editor, viewer, owner, member, reader } = predefinedRole;
const [reviewer, releaser] = [7, 8];

let database: Database;
let stop: () => Promise<void>;
let access: AccessReader;

beforeAll(async () => {
  ({ database, stop } = await openGatewayDatabase());
  access = accessReader(database);
  await write("insert into project (id, mode, version) values ('secret', 'private', 1), ('guarded', 'protected', 2)");
});
afterAll(() => stop());

const write = <Row>(text: string, values: readonly unknown[] = []) =>
  database.transaction(({ query }) => query<Row>(text, values));
let made = 0;
const aUser = async (role: number, more: { projectRoles?: readonly [string, number][] } = {}): Promise<number> => {
  const name = `user ${++made}`;
  const [row] = await write<{ id: number }>('insert into api_user (name, root_role_id) values ($1, $2) returning id', [
    name,
    role,
  ]);
  const { id } = row as { id: number };
  for (const [project, roleId] of more.projectRoles ?? [])
    await write('insert into project_user (project, user_id, role_id) values ($1, $2, $3)', [project, id, roleId]);
  return id;
};
const inGroup = async (userId: number, { rootRole = null as number | null, project = '', role = 0 }): Promise<void> => {
  const [group] = await write<{ id: number }>(
    "insert into user_group (name, root_role_id, created_by) values ($1, $2, 'spec') returning id",
    [`group ${++made}`, rootRole],
  );
  await write("insert into group_member (group_id, user_id, created_by) values ($1, $2, 'spec')", [group?.id, userId]);
  if (role > 0)
    await write('insert into project_group (project, group_id, role_id) values ($1, $2, $3)', [
      project,
      group?.id,
      role,
    ]);
};
const callerOf = async (id: number): Promise<Caller> => {
  const [found] = await access.usersWithRights([id]);
  return (found ?? { caller: { id: 0, name: 'disabled', grants: [] } }).caller;
};
const given = async (id: number, where: { project?: string; environment?: string } = {}): Promise<Permission[]> => {
  const caller = await callerOf(id);
  return permissions.filter((permission) => may(caller, [permission], where));
};
const toOwners: Permission[] = [
  'CREATE_FEATURE',
  'UPDATE_FEATURE',
  'DELETE_FEATURE',
  'MOVE_FEATURE_TOGGLE',
  'UPDATE_FEATURE_DEPENDENCY',
  'UPDATE_FEATURE_VARIANTS',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
  'UPDATE_PROJECT',
  'DELETE_PROJECT',
  'READ_PROJECT_API_TOKEN',
  'CREATE_PROJECT_API_TOKEN',
  'DELETE_PROJECT_API_TOKEN',
  'UPDATE_PROJECT_SEGMENT',
];

describe('a root role', () => {
  it('of an Admin grants everything everywhere', async () => {
    expect(await given(await aUser(admin), { project: 'any', environment: 'any' })).toEqual(permissions);
  });

  it('of a Viewer grants no permission at all', async () => {
    expect(await given(await aUser(viewer))).toEqual([]);
  });

  it('of an Editor grants the global objects, and the project default like its owner', async () => {
    const caller = await callerOf(await aUser(editor));
    for (const permission of ['CREATE_SEGMENT', 'CREATE_PROJECT', 'READ_CLIENT_API_TOKEN'] as const)
      expect(may(caller, [permission], { project: 'other' })).toBe(true);
    for (const permission of toOwners) {
      expect(may(caller, [permission], { project: 'default', environment: 'production' })).toBe(true);
      expect(may(caller, [permission], { project: 'other', environment: 'production' })).toBe(false);
    }
  });

  it.each([
    'ADMIN',
    'CREATE_CLIENT_API_TOKEN',
    'APPROVE_CHANGE_REQUEST',
    'APPLY_CHANGE_REQUEST',
    'SKIP_CHANGE_REQUEST',
    'READ_ROLE',
  ] as const)('of an Editor does not grant %s', async (permission) => {
    expect(await given(await aUser(editor), { project: 'default' })).not.toContain(permission);
  });
});

describe('a role in a project', () => {
  it('grants an Owner everything there except approvals, and nothing elsewhere', async () => {
    const id = await aUser(viewer, { projectRoles: [['shop', owner]] });
    expect(await given(id, { project: 'shop' })).toEqual(toOwners);
    expect(await given(id, { project: 'bank' })).toEqual([]);
  });

  it('grants a Member what an Owner has, except for the project itself', async () => {
    const id = await aUser(viewer, { projectRoles: [['shop', member]] });
    const withheld = ['MOVE_FEATURE_TOGGLE', 'UPDATE_PROJECT', 'DELETE_PROJECT'];
    expect(await given(id, { project: 'shop' })).toEqual(toOwners.filter((one) => !withheld.includes(one)));
  });

  it('lets change reviewers approve, and change releasers apply as well', async () => {
    const id = await aUser(viewer, { projectRoles: [['shop', reviewer]] });
    expect(await given(id, { project: 'shop' })).toEqual(['APPROVE_CHANGE_REQUEST']);
    const other = await aUser(viewer, { projectRoles: [['shop', releaser]] });
    expect(await given(other, { project: 'shop' })).toEqual(['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST']);
  });

  it('of one environment grants nothing in another', async () => {
    const [role] = await write<{ id: number }>(
      "insert into role (name, type) values ('Deployer', 'custom') returning id",
    );
    const roleId = role?.id ?? 0;
    await write("insert into role_permission values ($1, 'UPDATE_FEATURE_ENVIRONMENT', null, 'development')", [roleId]);
    const id = await aUser(viewer, { projectRoles: [['shop', roleId]] });
    expect(await given(id, { project: 'shop', environment: 'development' })).toEqual(['UPDATE_FEATURE_ENVIRONMENT']);
    expect(await given(id, { project: 'shop', environment: 'production' })).toEqual([]);
  });
});

describe('a group', () => {
  it('adds its permissions to those of its members', async () => {
    const id = await aUser(viewer, { projectRoles: [['shop', reviewer]] });
    await inGroup(id, { rootRole: editor, project: 'shop', role: releaser });
    const rights = await given(id, { project: 'shop' });
    expect(rights).toEqual(
      expect.arrayContaining(['CREATE_SEGMENT', 'APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST']),
    );
    expect(rights).not.toContain('CREATE_FEATURE');
  });
});

describe('a project that is not open', () => {
  const closedTo = async (id: number) => {
    const { hiddenProjects = [], proposalDeniedProjects = [] } = await callerOf(id);
    return { hiddenProjects, proposalDeniedProjects };
  };
  const everyOne = { hiddenProjects: ['secret'], proposalDeniedProjects: ['guarded'] };

  it('is closed to users without a role in it, Editors included, and open to an Admin', async () => {
    expect(await closedTo(await aUser(viewer))).toEqual(everyOne);
    expect(await closedTo(await aUser(editor))).toEqual(everyOne);
    expect(await closedTo(await aUser(viewer, { projectRoles: [['shop', owner]] }))).toEqual(everyOne);
    expect(await closedTo(await aUser(admin))).toEqual({ hiddenProjects: [], proposalDeniedProjects: [] });
  });

  it('is open to a user with any role in it, even one without permissions', async () => {
    const roles: [string, number][] = [
      ['secret', reader],
      ['guarded', member],
    ];
    expect(await closedTo(await aUser(viewer, { projectRoles: roles }))).toEqual({
      hiddenProjects: [],
      proposalDeniedProjects: [],
    });
    const byGroup = await aUser(viewer);
    await inGroup(byGroup, { project: 'secret', role: reader });
    expect(await closedTo(byGroup)).toEqual({ hiddenProjects: [], proposalDeniedProjects: ['guarded'] });
  });
});

describe('a deleted or disabled user', () => {
  it('has no permissions, whatever the roles', async () => {
    const [deleted, disabled, active] = [
      await aUser(viewer, { projectRoles: [['left', reviewer]] }),
      await aUser(viewer, { projectRoles: [['left', reviewer]] }),
      await aUser(viewer, { projectRoles: [['left', reviewer]] }),
    ];
    await write('update api_user set deleted_at = now() where id = $1', [deleted]);
    await write('update api_user set is_active = false where id = $1', [disabled]);
    expect((await access.usersWithRights([deleted, disabled, active])).map(({ user }) => user.id)).toEqual([active]);
    const holders = await access.findPermissionHolders(['APPROVE_CHANGE_REQUEST'], 'left', undefined);
    const ids = holders.map(({ id }) => id);
    expect(ids).toContain(active);
    expect(ids).not.toContain(deleted);
    expect(ids).not.toContain(disabled);
  });
});

it('lists the holders of a permission in a project and environment by name, admins included', async () => {
  const [role] = await write<{ id: number }>("insert into role (name, type) values ('Local', 'custom') returning id");
  await write("insert into role_permission values ($1, 'SKIP_CHANGE_REQUEST', null, 'development')", [role?.id]);
  const local = await aUser(viewer, { projectRoles: [['held', role?.id ?? 0]] });
  const root = await aUser(admin);
  await write("update api_user set name = 'zoe', username = 'zoe', email = 'zoe@example.org' where id = $1", [local]);
  await write("update api_user set name = 'Adam' where id = $1", [root]);
  const holders = (environment?: string) => access.findPermissionHolders(['SKIP_CHANGE_REQUEST'], 'held', environment);
  const among = (found: readonly { id: number }[]) =>
    found.map(({ id }) => id).filter((id) => [local, root].includes(id));
  expect(among(await holders('development'))).toEqual([root, local]);
  expect(among(await holders())).toEqual([root, local]);
  expect(among(await holders('production'))).toEqual([root]);
  expect(among(await access.findPermissionHolders(['SKIP_CHANGE_REQUEST'], 'elsewhere', 'development'))).toEqual([
    root,
  ]);
  expect((await holders('development')).find(({ id }) => id === local)).toEqual({
    id: local,
    name: 'zoe',
    username: 'zoe',
    email: 'zoe@example.org',
    imageUrl: expect.stringMatching(/^https:\/\/gravatar\.com\/avatar\/[0-9a-f]{64}\?s=42&d=retro&r=g$/) as unknown,
    isMember: true,
  });
  expect((await holders('development')).find(({ id }) => id === root)).toMatchObject({ isMember: false });
});

describe('the holders of roles', () => {
  const permissionsOf = ({ users, roles }: Awaited<ReturnType<AccessReader['listRoleHolders']>>, id: number) => {
    const held = users.find((user) => user.id === id)?.through.map(({ role }) => role) ?? [];
    return roles.filter((role) => held.includes(role.id)).flatMap((role) => role.permissions);
  };

  it.each(['shop', 'default', 'secret', 'guarded'])(
    'in %s have by their roles exactly the permissions that are checked',
    async (project) => {
      const byGroup = await aUser(viewer);
      await inGroup(byGroup, { rootRole: editor, project, role: owner });
      const ids = [byGroup, await aUser(admin), await aUser(editor), await aUser(viewer)];
      ids.push(await aUser(viewer, { projectRoles: [['shop', owner]] }));
      const held = await access.listRoleHolders(project);
      for (const id of ids) {
        const rights = permissionsOf(held, id);
        const isAdmin = rights.some(({ name }) => name === 'ADMIN');
        const shown = permissions.filter((permission) => isAdmin || rights.some(({ name }) => name === permission));
        const isHidden = (await callerOf(id)).hiddenProjects?.includes(project) === true;
        expect([id, shown]).toEqual([id, isHidden ? [] : await given(id, { project })]);
        expect(held.users.some((user) => user.id === id)).toBe(!isHidden);
      }
    },
  );

  it('everywhere have root roles only, own ones and those of groups, while they are active', async () => {
    const id = await aUser(viewer, { projectRoles: [['shop', owner]] });
    await inGroup(id, { rootRole: editor, project: 'shop', role: owner });
    const held = await access.listRoleHolders(undefined);
    const { through } = held.users.find((user) => user.id === id) ?? { through: [] };
    expect(through).toEqual([
      { role: editor, group: expect.any(Number) as unknown },
      { role: viewer, group: null },
    ]);
    expect(held.groups).toContainEqual({ id: through[0]?.group, name: `group ${made}` });
    // What an Editor may do in the project default is not given everywhere.
    expect(permissionsOf(held, id).map(({ name }) => name)).not.toContain('CREATE_FEATURE');
    await write('update api_user set is_active = false where id = $1', [id]);
    expect((await access.listRoleHolders(undefined)).users.some((user) => user.id === id)).toBe(false);
  });
});
