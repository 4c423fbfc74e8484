import { call, type CallContext, systemContext } from '@bunting/bus';
import {
  CountProjectMembers,
  CountEnvironmentTokens,
  type Group,
  ListTokensNearTheirEnd,
  systemCaller,
} from '@bunting/contracts';
import { beforeAll, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { startedGateway } from '../../../test/started-gateway.ts';

const [owner, member] = [4, 5];

const gateway = startedGateway();
const { done, aUser } = accessApi(() => gateway);
beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop', 'bank'])));

const context = (hiddenProjects: readonly string[] = []): CallContext => ({
  ...systemContext(60_000),
  caller: { ...systemCaller, hiddenProjects: [...hiddenProjects] },
});
const members = async (project?: string) =>
  (await call(gateway.bus, CountProjectMembers, { body: project === undefined ? {} : { project } }, context()))
    .projects;
const tokens = async (project?: string, hidden?: readonly string[]) =>
  (await call(gateway.bus, CountEnvironmentTokens, { body: project === undefined ? {} : { project } }, context(hidden)))
    .environments;

it('counts each member of a project once, through groups as well, and names its owners', async () => {
  expect(await members('shop')).toEqual([]);
  const [one, other, gone] = [await aUser(), await aUser(), await aUser()];
  const users = [{ user: { id: one.id } }, { user: { id: other.id } }];
  const group = await done<Group>('POST', 'groups', { name: 'keepers', users });
  await done('POST', 'projects/shop/access', { roles: [owner, member], users: [one.id, gone.id], groups: [group.id] });
  await done('POST', 'projects/bank/access', { roles: [member], users: [other.id], groups: [] });
  await done('DELETE', `user-admin/${gone.id}`);
  const imageUrl = expect.stringMatching(/^https:/);
  expect(await members()).toEqual([
    { id: 'bank', members: 1, added: 1, owners: [] },
    {
      id: 'shop',
      members: 2,
      added: 2,
      owners: [
        { ownerType: 'user', name: one.name, email: null, imageUrl },
        { ownerType: 'group', name: 'keepers' },
      ],
    },
  ]);
  expect(await members('bank')).toEqual([{ id: 'bank', members: 1, added: 1, owners: [] }]);
  await gateway.database.transaction(({ query }) =>
    query("update project_user set added_at = now() - interval '31 days' where project = 'bank'"),
  );
  expect(await members('bank')).toMatchObject([{ members: 1, added: 0 }]);
});

it('counts valid tokens by environment and by project, without those for hidden projects only', async () => {
  const make = (projects: string[], environment: string) =>
    done<{ secret: string }>('POST', 'api-tokens', { tokenName: 'one', type: 'client', environment, projects });
  const { secret } = await make(['shop'], 'development');
  await make(['shop', 'bank'], 'development');
  await make(['*'], 'production');
  const [development, production] = ['development', 'production'].map((name) => ({ name, tokens: 1 }));
  expect(await tokens()).toEqual([{ name: 'development', tokens: 2 }, production]);
  expect(await tokens('bank')).toEqual([development, production]);
  expect(await tokens(undefined, ['shop'])).toEqual([development, production]);
  await done('DELETE', `api-tokens/${encodeURIComponent(secret)}`);
  expect(await tokens()).toEqual([development, production]);
});

it('lists the tokens that end within days, with whom to tell: who created them, and of a PAT its user', async () => {
  const { id, key } = await aUser(1);
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const client = { type: 'client', environment: 'development', projects: ['*'] };
  await done('POST', 'api-tokens', { ...client, tokenName: 'ends', expiresAt: inDays(5) }, key);
  await done('POST', 'api-tokens', { ...client, tokenName: 'works on', expiresAt: inDays(9) }, key);
  await done('POST', 'api-tokens', { ...client, tokenName: 'for ever' }, key);
  await done('POST', 'api-tokens', { ...client, tokenName: 'of nobody', expiresAt: inDays(5) });
  await done('POST', 'user/tokens', { description: 'laptop', expiresAt: inDays(2) }, key);
  const robot = await done<{ id: number }>(
    'POST',
    'service-account',
    { name: 'robot', username: 'robot', rootRole: 3 },
    key,
  );
  await done('POST', `service-account/${robot.id}/token`, { description: 'robot', expiresAt: inDays(1) }, key);
  const { tokens: ending } = await call(gateway.bus, ListTokensNearTheirEnd, { body: { days: 7 } }, context());
  expect(ending.map(({ name, userId, isPersonal }) => [name, userId, isPersonal])).toEqual([
    ['robot', id, false],
    ['laptop', id, true],
    ['ends', id, false],
  ]);
  expect(ending[0]?.livesMs).toBeLessThanOrEqual(ending[0]?.lifetimeMs ?? 0);
});

it('lists no tokens near their end to a creator from whom all of their projects are hidden by now', async () => {
  const { id, key } = await aUser(1);
  const expiresAt = new Date(Date.now() + 3 * 86_400_000).toISOString();
  for (const projects of [['shop'], ['bank'], ['shop', 'bank']]) {
    const body = {
      tokenName: `for ${projects.join()}`,
      type: 'client',
      environment: 'development',
      projects,
      expiresAt,
    };
    await done('POST', 'api-tokens', body, key);
  }
  const own = async () => {
    const { tokens: ending } = await call(gateway.bus, ListTokensNearTheirEnd, { body: { days: 7 } }, context());
    const ofCreator = ending.filter(({ userId }) => userId === id).map(({ name, projects }) => [name, projects]);
    return new Map(ofCreator as [string, string[]][]);
  };
  expect((await own()).size).toBe(3);
  await done('PUT', `user-admin/${id}`, { rootRole: 3 });
  await gateway.database.transaction(({ query }) => query("update project set mode = 'private' where id = 'shop'"));
  expect(await own()).toEqual(
    new Map([
      ['for bank', ['bank']],
      ['for shop,bank', ['shop', 'bank']],
    ]),
  );
  await gateway.database.transaction(({ query }) => query("update project set mode = 'open' where id = 'shop'"));
});
