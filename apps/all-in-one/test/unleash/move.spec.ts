import type {
  ApiToken,
  ClientFeatures,
  ProjectAccess,
  ProjectOverview,
  RoleWithPermissions,
  Users,
} from '@bunting/contracts';
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { withClient } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { featurePath, platformClient } from '../support/clients.ts';
import { migratedDatabases } from '../support/databases.ts';
import { dataFolder, type OneProcess, removeFolder, runProgram, startOneProcess } from '../support/platform.ts';

/** Another Bunting stands for the Unleash: both have the same API. */
describe('the move from an Unleash', () => {
  const folder = dataFolder();
  const tokensFile = path.join(folder, 'tokens.env');
  const databases: Awaited<ReturnType<typeof migratedDatabases>>[] = [];
  const platforms: OneProcess[] = [];
  let source: OneProcess;
  let target: OneProcess;
  let secret: string;

  const start = async (settings: Readonly<Record<string, string>>): Promise<OneProcess> => {
    const own = await migratedDatabases();
    databases.push(own);
    const platform = await startOneProcess(settings, own);
    platforms.push(platform);
    return platform;
  };
  const run = async (...args: string[]) => {
    const tokens = { UNLEASH_TOKEN: source.token, BUNTING_TOKEN: target?.token ?? '' };
    const program = runProgram('scripts/import.ts', tokens, { args: ['--from', source.url, ...args] });
    const { code } = await program.ended;
    return { code, output: program.output(), errors: program.errors() };
  };
  /** Unleash has constraints on fields that it does not list. */
  const forgetFields = () =>
    withClient(databases[0]?.settings['FEATURES_DATABASE_URL'] ?? '', (client) =>
      client.query("delete from context_field where name like 'unlisted%'"),
    );
  const created = async (address: string, body: object): Promise<void> => {
    expect((await source.api('POST', address, body)).status).toBe(201);
  };
  const makeToken = async (body: object): Promise<string> =>
    (await source.api<ApiToken>('POST', '/api/admin/api-tokens', { type: 'client', environment: 'staging', ...body }))
      .body.secret;

  beforeAll(async () => {
    const key = randomBytes(32).toString('hex');
    source = await start({
      GATEWAY_READABLE_SDK_TOKENS: 'true',
      GATEWAY_TOKEN_KEY: key,
      FEATURES_ALLOW_REGEX: 'true',
    });
    const { createProject, createFeature, addStrategy, createSegment, addTag, toggle } = platformClient(source.api);
    await created('/api/admin/environments', { name: 'staging', type: 'preproduction' });
    await createProject('mobile', { environments: ['staging', 'production'], defaultStickiness: 'userId' });
    await created('/api/admin/tag-types', { name: 'squad', description: 'who looks after it', icon: 's' });
    await created('/api/admin/context', { name: 'tenant', stickiness: true, legalValues: [{ value: 'a' }] });
    await created('/api/admin/strategies', { name: 'byTenant', parameters: [{ name: 'tenants', type: 'list' }] });
    for (const name of ['unlisted', 'unlistedOfSegment']) await created('/api/admin/context', { name });
    const constraint = { contextName: 'tenant', operator: 'IN' as const, values: ['a'] };
    const segment = await createSegment({
      name: 'north',
      project: 'mobile',
      constraints: [constraint, { ...constraint, contextName: 'unlistedOfSegment' }],
    });
    for (const name of ['parent', 'child']) await createFeature('mobile', name);
    await addTag('child', 'squad', 'web');
    const child = featurePath('mobile', 'child');
    await addStrategy(child, 'staging', {
      segments: [segment.id],
      constraints: [constraint, { ...constraint, contextName: 'unlisted' }],
    });
    await addStrategy(child, 'production', { name: 'byTenant', parameters: { tenants: 'a,b' } });
    await toggle(child, 'staging', 'on');
    expect((await source.api('POST', `${child}/dependencies`, { feature: 'parent' })).status).toBe(200);
    await forgetFields();
    secret = await makeToken({ tokenName: 'shop', projects: ['mobile'] });
    await makeToken({ tokenName: 'of two projects', projects: ['mobile', 'default'] });
  });
  afterAll(async () => {
    for (const platform of platforms) await platform.stop();
    for (const database of databases) await database.drop();
    removeFolder(folder);
  });

  it('writes the tokens of SDKs as settings of the first start, and names those that it leaves out', async () => {
    const { code, errors } = await run('--tokens', tokensFile);
    expect([code, errors]).toEqual([
      0,
      expect.stringContaining('left out: of two projects: it is for several projects'),
    ]);
    expect(statSync(tokensFile).mode & 0o777).toBe(0o600);
    const lines = readFileSync(tokensFile, 'utf8').split('\n');
    expect(lines).toEqual([`INIT_CLIENT_API_TOKENS=${secret}`, 'INIT_FRONTEND_API_TOKENS=', '']);
    expect(await run('--tokens', tokensFile)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/cannot be written/),
    });
    expect(await run('--project', 'mobile')).toMatchObject({ code: 2, errors: expect.stringContaining('leave out') });
  });

  it('moves everything that decides about flags, so that an SDK with its own token gets what it got before', async () => {
    const settings = readFileSync(tokensFile, 'utf8').trim().split('\n');
    target = await start(Object.fromEntries(settings.map((line) => line.split('=') as [string, string])));
    const { code, output, errors } = await run('--url', target.url);
    expect([code, errors]).toEqual([0, expect.stringContaining('mobile in production: 2 features')]);
    expect(JSON.parse(output)).toMatchObject({ created: 2, dependencies: 1, skipped: 0 });

    const polled = async ({ url }: OneProcess) => {
      const response = await fetch(`${url}/api/client/features`, { headers: { authorization: secret } });
      const { features, segments = [] } = (await response.json()) as ClientFeatures;
      const nameOf = new Map(segments.map(({ id, name }) => [id, name]));
      return features.map(({ strategies = [], ...feature }) => ({
        ...feature,
        strategies: strategies.map(({ segments: used = [], ...strategy }) => ({
          ...strategy,
          segments: used.map((id) => nameOf.get(id)),
        })),
      }));
    };
    const before = await polled(source);
    expect(before.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['child', true],
      ['parent', false],
    ]);
    await expect.poll(() => polled(target), { timeout: 60_000 }).toEqual(before);
  });

  it('changes nothing when it is run again', async () => {
    const { code, output } = await run('--url', target.url);
    expect([code, JSON.parse(output)]).toEqual([0, expect.objectContaining({ created: 0, updated: 0, strategies: 0 })]);
  });

  it('moves who may do what, and the settings of projects, where they are missing', async () => {
    const at = '/api/admin/projects/mobile';
    const idOf = async (server: OneProcess, list: string, name: string) => {
      const reply = await server.api<Record<string, { id: number; name: string }[]>>('GET', `/api/admin/${list}`);
      return reply.body[list]?.find((item) => item.name === name)?.id ?? 0;
    };
    const accounts = async (server: OneProcess) =>
      new Map(
        (await server.api<Users>('GET', '/api/admin/user-admin')).body.users.map((user) => [user.username, user]),
      );
    const permissions = [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'staging' }, { name: 'CREATE_FEATURE' }];
    await source.api('POST', '/api/admin/roles', {
      name: 'Deployer',
      type: 'custom',
      description: 'deploys',
      permissions,
    });
    await created('/api/admin/user-admin', {
      username: 'dana',
      email: 'dana@example.com',
      rootRole: 2,
      sendEmail: false,
    });
    await created('/api/admin/user-admin', { username: 'eli', name: 'Eli', rootRole: 3, sendEmail: false });
    const [dana, eli] = ['dana', 'eli'].map((name) => async () => (await accounts(source)).get(name)?.id ?? 0);
    const users = [{ user: { id: await dana?.() } }];
    await created('/api/admin/groups', { name: 'crew', mappingsSSO: ['okta-crew'], users });
    const role = await idOf(source, 'roles', 'Deployer');
    const holders = { users: [await eli?.()], groups: [await idOf(source, 'groups', 'crew')] };
    expect((await source.api('POST', `${at}/access`, { roles: [role], ...holders })).status).toBe(200);
    const featureNaming = { pattern: '^[a-z]+$', example: 'checkout', description: 'Lower case.' };
    expect((await source.api('PUT', `${at}/settings`, { featureNaming, featureLimit: 40 })).status).toBe(200);
    const defaultStrategy = {
      name: 'flexibleRollout',
      parameters: { rollout: '30', stickiness: 'userId', groupId: 'mobile' },
      segments: [await idOf(source, 'segments', 'north')],
    };
    const put = await source.api('POST', `${at}/environments/staging/default-strategy`, defaultStrategy);
    expect(put.status).toBe(200);
    const config = { changeRequestsEnabled: true, requiredApprovals: 2 };
    await source.api('PUT', `${at}/environments/production/change-requests/config`, config);
    await target.api('POST', '/api/admin/segments', { name: 'of the target', constraints: [] });

    expect(await run('--access', '--tokens', tokensFile)).toMatchObject({ code: 2 });
    expect(await run('--url', target.url, '--access')).toMatchObject({ code: 0 });

    const moved = await accounts(target);
    expect(moved.get('dana')).toMatchObject({ email: 'dana@example.com', rootRole: 2 });
    expect(moved.get('eli')).toMatchObject({ name: 'Eli', rootRole: 3 });
    const { body: access } = await target.api<ProjectAccess>('GET', `${at}/access`);
    const deployer = access.roles.find(({ name }) => name === 'Deployer');
    expect(deployer?.users).toEqual([moved.get('eli')?.id]);
    expect(access.groups).toMatchObject([
      {
        name: 'crew',
        mappingsSSO: ['okta-crew'],
        users: [{ user: { id: moved.get('dana')?.id } }],
        roles: [deployer?.id],
      },
    ]);
    const { body: granted } = await target.api<RoleWithPermissions>('GET', `/api/admin/roles/${deployer?.id}`);
    expect(granted.permissions).toHaveLength(2);
    expect(granted.permissions).toEqual(expect.arrayContaining([expect.objectContaining(permissions[0])]));
    const { body: overview } = await target.api<ProjectOverview>('GET', `${at}/overview`);
    expect(overview).toMatchObject({ featureNaming, featureLimit: 40 });
    const staging = overview.environments.find(({ environment }) => environment === 'staging');
    const segments = [await idOf(target, 'segments', 'north')];
    expect(staging?.defaultStrategy).toMatchObject({ parameters: { rollout: '30' }, segments });
    const configs = (await target.api<object[]>('GET', `${at}/change-requests/config`)).body;
    expect(configs).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ environment: 'staging', changeRequestEnabled: false }),
        expect.objectContaining({ environment: 'production', changeRequestEnabled: true, requiredApprovals: 2 }),
      ]),
    );

    const again = await run('--url', target.url, '--access');
    expect(again).toMatchObject({ code: 0, errors: expect.stringMatching(/users: \d+, of which created: 0\n/) });
    expect(again.errors).not.toMatch(/: created$|change requests|default strategy|Deployer/m);
  });

  it('names everything that is refused, and moves all else', async () => {
    const { createFeature, createSegment, addStrategy } = platformClient(source.api);
    const pattern = { contextName: 'tenant', operator: 'REGEX' as const, value: '^a' };
    for (const name of ['pattern 1', 'pattern 2']) await createSegment({ name, constraints: [pattern] });
    await createFeature('mobile', 'later');
    expect((await target.api('POST', '/api/admin/projects/default/features', { name: 'gone' })).status).toBe(201);
    for (const name of ['byPattern', 'beside', 'another', 'dependent']) await createFeature('default', name);
    await addStrategy(featurePath('default', 'byPattern'), 'development', { constraints: [pattern] });
    await addStrategy(featurePath('default', 'beside'), 'development', { parameters: { rollout: '10' } });
    const parent = { feature: 'byPattern' };
    expect((await source.api('POST', `${featurePath('default', 'dependent')}/dependencies`, parent)).status).toBe(200);
    const { code, errors } = await run('--url', target.url);
    expect(code).toBe(1);
    expect(errors).toContain('default: not in the Unleash, and left as they are: gone\n');
    expect(errors).toContain('segment pattern 1: ');
    expect(errors).toContain('segment pattern 2: ');
    expect(errors).toMatch(
      /^byPattern in development: .*constraints\/0\/operator` property of the feature "byPattern"/m,
    );
    expect(errors).toMatch(/^dependent in development: .*byPattern/m);
    expect((await target.api('GET', featurePath('mobile', 'later'))).status).toBe(200);
    expect((await target.api('GET', featurePath('default', 'another'))).status).toBe(200);
    const beside = `${featurePath('default', 'beside')}/environments/development`;
    expect((await target.api('GET', beside)).body).toMatchObject({ strategies: [{ parameters: { rollout: '10' } }] });
  });
});
