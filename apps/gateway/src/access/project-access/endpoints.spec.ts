import { randomUUID } from 'node:crypto';
import type { Group, ProjectAccess, RoleWithPermissions } from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { startedGateway } from '../../../test/started-gateway.ts';
import { applyProjectStates } from '../rights/project-store.ts';

describe('roles in projects', () => {
  const [owner, member, reader, reviewer] = [4, 5, 6, 7];
  const projects = Array.from({ length: 12 }, (_, nth) => `project-${nth}`);

  let used = 0;
  const { send, done, aUser, emittedBy } = accessApi(() => gateway);
  const aProject = (): string => projects[used++] as string;

  const gateway = startedGateway();
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', ...projects])));

  const accessTo = (project: string, key?: string) =>
    done<ProjectAccess>('GET', `projects/${project}/access`, undefined, key);
  const give = (project: string, userId: number, roles: number[], key?: string) =>
    send('PUT', `projects/${project}/users/${userId}/roles`, { roles }, key);
  const refusal = ({ status, body }: { status: number; body: { name: string } }) => `${status} ${body.name}`;

  describe('access to a project', () => {
    it('is granted to users and groups and listed with all project roles', async () => {
      const project = aProject();
      const [one, other] = [await aUser(), await aUser()];
      const group = await done<Group>('POST', 'groups', { name: `of ${project}`, users: [{ user: { id: other.id } }] });
      const events = await emittedBy(async () => {
        await done('POST', `projects/${project}/access`, { roles: [owner], users: [one.id], groups: [] });
        await done('POST', `projects/${project}/access`, { roles: [member, reviewer], users: [], groups: [group.id] });
        await done('PUT', `projects/${project}/users/${one.id}/roles`, { roles: [reviewer, owner] });
        await done('PUT', `projects/${project}/groups/${group.id}/roles`, { roles: [member] });
      });
      const { users, groups, roles } = await accessTo(project);
      expect(users).toMatchObject([{ id: one.id, username: one.name, roles: [owner, reviewer], roleId: owner }]);
      expect(groups).toMatchObject([{ id: group.id, roles: [member], userCount: 1 }]);
      const held = roles.filter((role) => role.users.length + role.groups.length > 0);
      expect(held.map(({ id, users: whom, groups: which }) => ({ id, whom, which }))).toEqual([
        { id: owner, whom: [one.id], which: [] },
        { id: member, whom: [], which: [group.id] },
        { id: reviewer, whom: [one.id], which: [] },
      ]);
      expect(events.map(({ type, project: where }) => [type, where])).toEqual([
        ['project-access-added', project],
        ['project-access-added', project],
        ['project-access-user-roles-updated', project],
        ['project-access-group-roles-updated', project],
      ]);
      expect(events[2]).toMatchObject({
        data: { userId: one.id, roles: [owner, reviewer] },
        preData: { userId: one.id, roles: [owner] },
      });
    });

    it('is removed from a user with one event', async () => {
      const project = aProject();
      const { id } = await aUser();
      await give(project, id, [member]);
      const events = await emittedBy(async () => {
        await done('DELETE', `projects/${project}/users/${id}/roles`);
        await done('DELETE', `projects/${project}/users/${id}/roles`);
      });
      expect((await accessTo(project)).users).toEqual([]);
      expect(events).toMatchObject([
        { type: 'project-access-user-roles-deleted', data: null, preData: { userId: id, roles: [member] } },
      ]);
    });

    it('is replaced as a whole, removing users and groups that are not named', async () => {
      const project = aProject();
      const [one, other] = [await aUser(), await aUser()];
      await give(project, one.id, [owner]);
      const body = {
        roles: [
          { id: owner, users: [other.id] },
          { id: reader, users: [other.id], groups: [] },
        ],
      };
      const events = await emittedBy(async () => {
        await done('PUT', `projects/${project}/access`, body);
        await done('PUT', `projects/${project}/access`, body);
      });
      expect((await accessTo(project)).users).toMatchObject([{ id: other.id, roles: [owner, reader] }]);
      expect(events).toMatchObject([
        {
          type: 'project-access-updated',
          preData: { roles: [{ id: owner, users: [one.id], groups: [] }] },
          data: {
            roles: [
              { id: owner, users: [other.id], groups: [] },
              { id: reader, users: [other.id], groups: [] },
            ],
          },
        },
      ]);
    });

    it('keeps at least one owner once it has one', async () => {
      const project = aProject();
      const { id } = await aUser();
      await give(project, id, [owner]);
      for (const [method, path, body] of [
        ['DELETE', `users/${id}/roles`, undefined],
        ['PUT', `users/${id}/roles`, { roles: [member] }],
        ['PUT', 'access', { roles: [] }],
      ] as const) {
        const answer = await send(method, `projects/${project}/${path}`, body);
        expect(`${refusal(answer)} ${answer.body.message}`).toBe(
          '409 ConflictError A project must have at least one owner',
        );
      }
      expect((await accessTo(project)).users).toMatchObject([{ id, roles: [owner] }]);
    });

    it('lists private projects of a group only to callers who may see them', async () => {
      const [project, hidden] = [aProject(), aProject()];
      const boss = await aUser();
      await give(project, boss.id, [owner]);
      const group = await done<Group>('POST', 'groups', { name: `of ${project}`, users: [] });
      for (const where of [project, hidden]) {
        await done('POST', `projects/${where}/access`, { roles: [member], users: [], groups: [group.id] });
      }
      await gateway.database.transaction(({ query }) =>
        query("update project set mode = 'private' where id = $1", [hidden]),
      );
      expect((await accessTo(project)).groups).toMatchObject([{ projects: [project, hidden].sort() }]);
      expect((await accessTo(project, boss.key)).groups).toMatchObject([{ id: group.id, projects: [project] }]);
    });

    it('is rejected for unknown roles, users, groups and projects', async () => {
      const project = aProject();
      const { id } = await aUser();
      for (const role of [1, 3, 999]) expect(refusal(await give(project, id, [role]))).toBe('400 ValidationError');
      expect(refusal(await give(project, 999_999, [member]))).toBe('404 NotFoundError');
      expect(refusal(await give('nowhere', id, [member]))).toBe('404 NotFoundError');
      const add = (body: object) =>
        send('POST', `projects/${project}/access`, { roles: [member], users: [], groups: [], ...body });
      expect((await add({ users: [999_999] })).body.message).toContain('/body/users');
      expect((await add({ groups: [999_999] })).body.message).toContain('/body/groups');
      expect((await accessTo(project)).users).toEqual([]);
    });
  });

  describe('privilege escalation', () => {
    it('an Owner grants the permissions of an Owner, and not that to approve change requests', async () => {
      const project = aProject();
      const [boss, friend] = [await aUser(), await aUser()];
      await give(project, boss.id, [owner]);
      for (const role of [owner, member, reader])
        expect((await give(project, friend.id, [role], boss.key)).status).toBe(200);
      const answer = await give(project, friend.id, [reader, reviewer], boss.key);
      expect(refusal(answer)).toBe('403 NoAccessError');
      expect(answer.body.permissions).toEqual(['APPROVE_CHANGE_REQUEST']);
      const adding = { roles: [reviewer], users: [friend.id], groups: [] };
      expect((await send('POST', `projects/${project}/access`, adding, boss.key)).status).toBe(403);
      const whole = {
        roles: [
          { id: owner, users: [boss.id] },
          { id: reviewer, users: [friend.id] },
        ],
      };
      expect((await send('PUT', `projects/${project}/access`, whole, boss.key)).status).toBe(403);
      expect((await accessTo(project)).users).toMatchObject([{ id: boss.id }, { id: friend.id, roles: [reader] }]);
    });

    it('an Owner keeps the roles that a user already has', async () => {
      const project = aProject();
      const [boss, friend] = [await aUser(), await aUser()];
      await give(project, boss.id, [owner]);
      await give(project, friend.id, [reviewer]);
      expect((await give(project, friend.id, [reviewer, member], boss.key)).status).toBe(200);
    });

    it('a Member grants nothing, and an Owner nothing in another project', async () => {
      const [project, other] = [aProject(), aProject()];
      const [boss, some] = [await aUser(), await aUser()];
      await give(project, boss.id, [owner]);
      await give(project, some.id, [member]);
      expect(refusal(await give(project, some.id, [owner], some.key))).toBe('403 NoAccessError');
      expect(refusal(await give(other, boss.id, [reader], boss.key))).toBe('403 NoAccessError');
      expect((await send('GET', `projects/${project}/access`, undefined, some.key)).status).toBe(403);
    });

    it('a permission in one environment does not suffice to grant it in all', async () => {
      const project = aProject();
      const [keeper, friend] = [await aUser(), await aUser()];
      const role = (name: string, permissions: object[]) =>
        done<RoleWithPermissions>('POST', 'roles', { name: `${name} of ${project}`, permissions });
      const toggle = { name: 'UPDATE_FEATURE_ENVIRONMENT' };
      const narrow = await role('narrow', [{ ...toggle, environment: 'development' }]);
      const wide = await role('wide', [toggle]);
      const accessReader = await role('access', [{ name: 'PROJECT_USER_ACCESS_WRITE' }]);
      await give(project, keeper.id, [narrow.id, accessReader.id]);
      expect((await give(project, friend.id, [narrow.id], keeper.key)).status).toBe(200);
      expect(refusal(await give(project, friend.id, [wide.id], keeper.key))).toBe('403 NoAccessError');
    });
  });
});

describe('a project that is deleted meanwhile', () => {
  const member = 5;

  const { send, aUser, done } = accessApi(() => gateway);

  const write = <Row>(text: string) => gateway.database.transaction(({ query }) => query<Row>(text));
  const stateMessage = (version: number, state: object | null) => ({
    position: version,
    uid: randomUUID(),
    type: 'project',
    recordedAt: new Date().toISOString(),
    traceparent: null,
    payload: { entity: 'project', id: 'brief', version, state, ...(state === null ? { lastMode: 'open' } : {}) },
  });
  /** The states that the gateway consumes right after the features service has found the project: created, then deleted. */
  const created = stateMessage(1, { id: 'brief', mode: 'open', createdBy: null });
  const deleted = stateMessage(2, null);
  let received = [deleted];
  const apply = () => gateway.database.transaction((tx) => applyProjectStates(tx, received));

  const gateway = startedGateway();
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['brief'], apply, [])));

  describe.each([
    ['whose deletion the gateway has received', true],
    ['whose deletion the gateway receives at the same time', false],
  ])('a project %s', (_which, isKnown) => {
    beforeEach(async () => {
      received = isKnown ? [deleted] : [created, deleted];
      await write("delete from project where id = 'brief'");
      if (isKnown) await write("insert into project (id, mode, version) values ('brief', 'open', 1)");
    });

    it.each(['users', 'groups'])('gets no roles for %s', async (holders) => {
      const { id } = holders === 'users' ? await aUser() : await done<Group>('POST', 'groups', { name: randomUUID() });
      for (const [method, path, body] of [
        ['PUT', `projects/brief/${holders}/${id}/roles`, { roles: [member] }],
        ['POST', 'projects/brief/access', { roles: [member], users: [], groups: [], [holders]: [id] }],
        ['PUT', 'projects/brief/access', { roles: [{ id: member, [holders]: [id] }] }],
      ] as const) {
        const given = await send(method, path, body);
        expect([path, given.status, given.body.message]).toEqual([path, 404, 'Could not find project with id brief']);
      }
      for (const table of ['project_user', 'project_group', 'project'])
        expect([
          table,
          await write(`select from ${table} where ${table === 'project' ? 'id' : 'project'} = 'brief'`),
        ]).toEqual([table, []]);
    });

    it.each(['projects/brief/api-tokens', 'api-tokens'])('gets no token by a request to %s', async (path) => {
      const body = { tokenName: 'late', type: 'client', environment: 'development', projects: ['brief'] };
      expect((await send('POST', path, body)).status).toBe(404);
      expect(await write("select from api_token where name = 'late'")).toEqual([]);
    });
  });
});
