import { call, systemContext } from '@bunting/bus';
import { type ApiToken, CopyEnvironmentPermissions, EndEnvironmentAccess, systemCaller } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

let gateway: StartedGateway;
const { done } = accessApi(() => gateway);

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.behind(fakeProjectEndpoints([]));
});
afterAll(() => gateway.stop());

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
