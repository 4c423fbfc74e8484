import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { migratedDatabases } from '../support/databases.ts';
import { type OneProcess, startOneProcess } from '../support/platform.ts';
import { shapeMismatches, type ExpectedResponses, type Shape } from './sample-data.ts';

// What the provider unleash/unleash sends for its resources. The shapes are facts about the responses that its generated client
// (unleash-server-api-go 0.7.1) decodes: which members it requires, and which may be null.
const { responses, shapes } = JSON.parse(
  readFileSync(new URL('./terraform-client-0.7.1.json', import.meta.url), 'utf8'),
) as ExpectedResponses;

/** Optional members that the provider reads without a check: on null it crashes. */
const readUnchecked: readonly (readonly [shape: string, ...members: string[]])[] = [
  ['userSchema', 'name', 'username'],
  ['createUserResponseSchema', 'name', 'username'],
  ['projectSchema', 'description'],
  ['projectCreatedSchema', 'description'],
];
const strict: Record<string, Shape> = { ...shapes };
for (const [name, ...members] of readUnchecked) {
  const shape: Record<string, unknown> = { ...(strict[name] as Readonly<Record<string, unknown>>) };
  for (const member of members) shape[`${member}?`] = 'string';
  strict[name] = shape;
}
/** Members that the client lets be left out and that the provider cannot do without. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'POST /api/admin/api-tokens': ['environment', 'project'],
  'GET /api/admin/user-admin/{id}': ['rootRole'],
  'PUT /api/admin/user-admin/{id}': ['rootRole'],
};
/** The provider requires another status than the description of its client. */
const statuses: Readonly<Record<string, number>> = {
  'PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config': 204,
};

/** The members of responses that the test reads. */
interface Body {
  readonly id: number;
  readonly secret: string;
  readonly roles: { readonly id: number };
  readonly projects: readonly { readonly id: string }[];
  readonly environments: readonly { readonly name: string; readonly visible?: boolean }[];
  readonly serviceAccounts: readonly { readonly id: number }[];
  readonly tokens: readonly { readonly secret: string }[];
  readonly pats: readonly object[];
}

interface RoleCase {
  readonly type: string;
  readonly permissions: readonly object[];
  readonly changed: readonly object[];
}
const roleCases: readonly RoleCase[] = [
  {
    type: 'root-custom',
    permissions: [{ name: 'CREATE_PROJECT' }, { name: 'UPDATE_PROJECT' }],
    changed: [{ name: 'CREATE_SEGMENT' }],
  },
  {
    type: 'custom',
    permissions: [{ name: 'CREATE_FEATURE' }, { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' }],
    changed: [{ name: 'DELETE_FEATURE' }],
  },
];

describe("a resource of Terraform's provider", () => {
  let platform: OneProcess;

  beforeAll(async () => {
    const settings = {
      GATEWAY_READABLE_SDK_TOKENS: 'true',
      GATEWAY_TOKEN_KEY: 'the key of the tokens of this one test',
    };
    platform = await startOneProcess(settings, await migratedDatabases());
  });
  afterAll(() => platform.stop());

  /** Sends a request of the provider, and decodes the response as its client does. */
  const send = async (operation: string, where: Record<string, unknown> = {}, body?: object): Promise<Body> => {
    const expected = responses[operation];
    if (expected === undefined) throw new Error(`The client has no ${operation}.`);
    const [method = '', url = ''] = operation.split(' ');
    const path = url.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(where[name])));
    const response = await platform.api<Body>(method, path, body);
    const status = statuses[operation] ?? expected.status;
    expect({ operation, status: response.status, text: response.status === status ? '' : response.text }).toEqual({
      operation,
      status,
      text: '',
    });
    const found = expected.body === undefined ? [] : shapeMismatches(response.body, expected.body, strict);
    const missing = (needed[operation] ?? []).filter((member) => !Object.hasOwn(response.body, member));
    expect({ operation, found, missing }).toEqual({ operation, found: [], missing: [] });
    return response.body;
  };

  it('unleash_project is created without environments, changed and deleted', async () => {
    const listed = async () => (await send('GET /api/admin/projects')).projects.find(({ id }) => id === 'tf-project');
    const where = { projectId: 'tf-project' };
    await send(
      'POST /api/admin/projects',
      {},
      {
        id: 'tf-project',
        name: 'TF',
        mode: 'open',
        defaultStickiness: 'default',
        environments: [],
      },
    );
    await send('PUT /api/admin/projects/{projectId}/settings', where, { mode: 'protected' });
    expect(await listed()).toMatchObject({ mode: 'protected' });
    expect(await listed()).not.toHaveProperty('description');
    await send('PUT /api/admin/projects/{projectId}/settings', where, { mode: 'open' });
    await send('PUT /api/admin/projects/{projectId}', where, { name: 'TF again', description: 'of Terraform' });
    expect(await listed()).toMatchObject({ name: 'TF again', mode: 'open', description: 'of Terraform' });
    await send('DELETE /api/admin/projects/{projectId}', where);
    expect(await listed()).toBeUndefined();
  });

  it('unleash_project_environment is connected, protected and disconnected', async () => {
    const where = { projectId: 'tf-connected', environment: 'development' };
    await send('POST /api/admin/projects', {}, { id: where.projectId, name: 'TF', environments: [] });
    // As in Unleash, every environment is listed; the connected ones are visible.
    const connected = async () => {
      const operation = 'GET /api/admin/environments/project/{projectId}';
      const { environments } = await send(operation, where);
      return environments.filter(({ visible }) => visible === true).map(({ name }) => name);
    };
    expect(await connected()).toEqual([]);
    await send('POST /api/admin/projects/{projectId}/environments', where, { environment: 'development' });
    const protect = (changeRequestsEnabled: boolean, requiredApprovals: number) =>
      send('PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config', where, {
        changeRequestsEnabled,
        requiredApprovals,
      });
    await protect(true, 2);
    const config = () => send('GET /api/admin/projects/{projectId}/change-requests/config', where);
    expect(await config()).toMatchObject([
      { environment: 'development', changeRequestEnabled: true, requiredApprovals: 2 },
    ]);
    expect(await connected()).toEqual(['development']);
    await protect(false, 0);
    await send('DELETE /api/admin/projects/{projectId}/environments/{environment}', where);
    expect(await connected()).toEqual([]);
  });

  it('unleash_project_access is set, changed and read', async () => {
    const where = { projectId: 'default' };
    const { id } = await send('POST /api/admin/user-admin', {}, { username: 'tf-member', rootRole: 3 });
    const group = await send('POST /api/admin/groups', {}, { name: 'tf-members', users: [] });
    const read = () => send('GET /api/admin/projects/{projectId}/access', where);
    await send('PUT /api/admin/projects/{projectId}/access', where, {
      roles: [
        { id: 4, users: [id] },
        { id: 5, groups: [group.id] },
      ],
    });
    expect(await read()).toMatchObject({ users: [{ id, roles: [4] }], groups: [{ id: group.id, roles: [5] }] });
    await send('PUT /api/admin/projects/{projectId}/access', where, { roles: [{ id: 4, users: [id] }] });
    expect(await read()).toMatchObject({ users: [{ id, roles: [4] }], groups: [] });
  });

  it('unleash_environment is created, changed and deleted', async () => {
    const where = { name: 'tf-environment' };
    await send('POST /api/admin/environments', {}, { name: where.name, type: 'development' });
    expect(await send('GET /api/admin/environments/{name}', where)).toMatchObject({ type: 'development' });
    await send('PUT /api/admin/environments/update/{name}', where, { type: 'preproduction' });
    expect(await send('GET /api/admin/environments/{name}', where)).toMatchObject({ type: 'preproduction' });
    await send('DELETE /api/admin/environments/{name}', where);
    expect((await platform.api('GET', '/api/admin/environments/tf-environment')).status).toBe(404);
  });

  it('unleash_context_field is created, changed and deleted', async () => {
    const where = { contextField: 'tfField' };
    const field = {
      name: where.contextField,
      description: 'of Terraform',
      stickiness: true,
      legalValues: [{ value: 'a' }],
    };
    await send('POST /api/admin/context', {}, field);
    expect(await send('GET /api/admin/context/{contextField}', where)).toMatchObject(field);
    await send('PUT /api/admin/context/{contextField}', where, {
      description: 'changed',
      stickiness: false,
      legalValues: [],
    });
    expect(await send('GET /api/admin/context/{contextField}', where)).toMatchObject({ description: 'changed' });
    await send('DELETE /api/admin/context/{contextField}', where);
    expect((await platform.api('GET', '/api/admin/context/tfField')).status).toBe(404);
  });

  it('unleash_user is created by e-mail or by username, changed and deleted', async () => {
    for (const names of [{ email: 'tf@example.org', name: 'TF' }, { username: 'tf-user' }]) {
      const body = { ...names, rootRole: 2, sendEmail: false, password: 'not-used-but-sent' };
      const { id } = await send('POST /api/admin/user-admin', {}, body);
      expect(await send('GET /api/admin/user-admin/{id}', { id })).toMatchObject({ ...names, rootRole: 2 });
      await send('PUT /api/admin/user-admin/{id}', { id }, { ...names, name: 'Renamed', rootRole: 3 });
      expect(await send('GET /api/admin/user-admin/{id}', { id })).toMatchObject({ name: 'Renamed', rootRole: 3 });
      await send('DELETE /api/admin/user-admin/{id}', { id });
      expect((await platform.api('GET', `/api/admin/user-admin/${id}`)).status).toBe(404);
    }
  });

  it('unleash_group keeps its mappings, and is changed and deleted', async () => {
    const body = { name: 'tf-group', description: 'of Terraform', mappingsSSO: ['ExampleSSOGroup'], users: [] };
    const { id: groupId } = await send('POST /api/admin/groups', {}, body);
    expect(await send('GET /api/admin/groups/{groupId}', { groupId })).toMatchObject(body);
    await send('PUT /api/admin/groups/{groupId}', { groupId }, { ...body, name: 'tf-renamed', rootRole: 3 });
    expect(await send('GET /api/admin/groups/{groupId}', { groupId })).toMatchObject({
      name: 'tf-renamed',
      rootRole: 3,
    });
    await send('DELETE /api/admin/groups/{groupId}', { groupId });
    expect((await platform.api('GET', `/api/admin/groups/${groupId}`)).status).toBe(404);
  });

  it.each(roleCases)(
    'unleash_role of the type $type is created, changed and deleted',
    async ({ type, permissions, changed }) => {
      const body = { name: `tf ${type}`, description: 'of Terraform', type, permissions };
      const { roles } = await send('POST /api/admin/roles', {}, body);
      const where = { roleId: roles.id };
      const read = () => send('GET /api/admin/roles/{roleId}', where);
      expect(await read()).toMatchObject({ name: body.name, type, description: body.description, permissions });
      await send('PUT /api/admin/roles/{roleId}', where, { ...body, name: `tf renamed ${type}`, permissions: changed });
      expect(await read()).toMatchObject({ name: `tf renamed ${type}`, permissions: changed });
      await send('DELETE /api/admin/roles/{roleId}', where);
      expect((await platform.api('GET', `/api/admin/roles/${roles.id}`)).status).toBe(404);
    },
  );

  it('unleash_service_account and unleash_service_account_token are created, read and deleted', async () => {
    const body = { username: 'tf-robot', name: 'Robot', rootRole: 2 };
    const { id } = await send('POST /api/admin/service-account', {}, body);
    const listed = async () =>
      (await send('GET /api/admin/service-account')).serviceAccounts.find((account) => account.id === id);
    expect(await listed()).toMatchObject(body);
    await send('PUT /api/admin/service-account/{id}', { id }, { username: 'tf-robot', name: 'Renamed', rootRole: 3 });
    expect(await listed()).toMatchObject({ name: 'Renamed', rootRole: 3 });
    const key = { description: 'of Terraform', expiresAt: '2040-01-01T00:00:00Z' };
    const created = await send('POST /api/admin/service-account/{id}/token', { id }, key);
    expect(created.secret).toMatch(/^user:/);
    const { pats } = await send('GET /api/admin/service-account/{id}/token', { id });
    expect(pats).toMatchObject([{ id: created.id, description: key.description }]);
    await send('DELETE /api/admin/service-account/{id}/token/{tokenId}', { id, tokenId: created.id });
    await send('DELETE /api/admin/service-account/{id}', { id });
    expect(await listed()).toBeUndefined();
  });

  it('unleash_api_token is found again by its secret, changed and deleted, so that no apply adds another', async () => {
    for (const type of ['client', 'frontend']) {
      const body = { tokenName: `tf-${type}`, type, environment: 'development', projects: ['default'] };
      const { secret: token } = await send('POST /api/admin/api-tokens', {}, body);
      const read = async () =>
        (await send('GET /api/admin/api-tokens')).tokens.filter(({ secret }) => secret === token);
      expect(await read()).toMatchObject([body]);
      await send('PUT /api/admin/api-tokens/{token}', { token }, { expiresAt: '2040-01-01T00:00:00Z' });
      expect(await read()).toMatchObject([{ ...body, expiresAt: '2040-01-01T00:00:00.000Z' }]);
      await send('DELETE /api/admin/api-tokens/{token}', { token });
      expect(await read()).toEqual([]);
    }
  });

  it('data sources find permissions, roles, groups and users', async () => {
    await send('GET /api/admin/permissions');
    await send('GET /api/admin/roles');
    await send('GET /api/admin/groups');
    await send('GET /api/admin/environments');
    await send('GET /api/admin/context');
    const { id } = await send('POST /api/admin/user-admin', {}, { username: 'tf-found', rootRole: 3 });
    await send('GET /api/admin/user-admin/{id}', { id });
  });
});
