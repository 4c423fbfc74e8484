import type { Caller, CreateApiTokenBody } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import {
  belongsToProject,
  grantsOfToken,
  initialTokenInEvents,
  mayCallAdminApi,
  parseNewProjectToken,
  parseNewToken,
  requireWithinLifetime,
  tokenEvent,
} from './token.ts';

const admin: Caller = { id: 1, name: 'admin', grants: [{ permission: 'ADMIN' }] };
const targets = { projects: ['shop', 'bank'], environments: ['development', 'production'] };
const create = (body: Partial<CreateApiTokenBody>, caller = admin) =>
  parseNewToken({ tokenName: 'checkout', type: 'client', ...body } as CreateApiTokenBody, caller, targets);

it('a new API token is for all projects in the environment development unless the request names others', () => {
  expect(create({})).toEqual({
    name: 'checkout',
    kind: 'client',
    projects: ['*'],
    environment: 'development',
    expiresAt: null,
  });
  expect(create({ projects: ['shop', 'shop'], environment: 'production' })).toMatchObject({
    projects: ['shop'],
    environment: 'production',
  });
});

it('an admin token is for all projects and environments only', () => {
  expect(create({ type: 'admin' })).toMatchObject({ projects: ['*'], environment: '*' });
  expect(() => create({ type: 'admin', project: 'shop' })).toThrow('cannot be scoped to single project');
  expect(() => create({ type: 'admin', environment: 'production' })).toThrow('cannot be scoped to single environment');
});

it('an API token for an unknown or hidden project is refused in the same words', () => {
  expect(() => create({ project: 'none' })).toThrow('Project=none does not exist');
  expect(() => create({ project: 'bank' }, { ...admin, hiddenProjects: ['bank'] })).toThrow(
    'Project=bank does not exist',
  );
});

it('an API token of an unknown type, or with both names of its name, is refused', () => {
  expect(() => create({ username: 'checkout' })).toThrow('send one of them, not both');
  expect(() => create({ type: 'constructor' })).toThrow('must be client, frontend or admin');
});

const createInShop = (body: Partial<CreateApiTokenBody>, caller = admin) =>
  parseNewProjectToken({ tokenName: 'checkout', type: 'client', ...body } as CreateApiTokenBody, caller, {
    project: 'shop',
    environments: targets.environments,
  });

it('a new token of a project is for this project, also if the request names none', () => {
  expect(createInShop({})).toMatchObject({ kind: 'client', projects: ['shop'], environment: 'development' });
  expect(createInShop({ project: 'shop', projects: ['shop'] }).projects).toEqual(['shop']);
});

it.each([
  ['for another project', { project: 'bank' }, 'can be for this project only'],
  ['for further projects', { projects: ['shop', 'bank'] }, 'can be for this project only'],
  ['for all projects', { projects: ['*'] }, 'can be for this project only'],
  ['of the type admin, in any case of letters', { type: 'Admin' }, 'cannot be an admin token'],
  ['of an unknown type', { type: 'constructor' }, 'must be client, frontend or admin'],
  ['in an unknown environment', { environment: 'none' }, 'Environment=none does not exist'],
])('a new token of a project is refused %s', (_, body, message) => {
  expect(() => createInShop(body)).toThrow(message);
});

it('a new token of a project needs the permission in its environment', () => {
  const inDevelopment = {
    permission: 'CREATE_PROJECT_API_TOKEN' as const,
    project: 'shop',
    environment: 'development',
  };
  const caller = { ...admin, grants: [inDevelopment] };
  expect(createInShop({}, caller).environment).toBe('development');
  expect(() => createInShop({ environment: 'production' }, caller)).toThrow(/permission/);
});

it('a token belongs to a project if it is for no other', () => {
  expect(belongsToProject({ projects: ['shop'] }, 'shop')).toBe(true);
  expect(belongsToProject({ projects: ['shop', 'bank'] }, 'shop')).toBe(false);
  expect(belongsToProject({ projects: ['*'] }, 'shop')).toBe(false);
});

it('a token that expires creates none that expires later or never', () => {
  const callerExpiresAt = new Date('2026-06-01T00:00:00.000Z');
  expect(() => requireWithinLifetime(callerExpiresAt, null)).toThrow('2026-06-01');
  expect(() => requireWithinLifetime(callerExpiresAt, new Date('2026-06-01T00:00:00.001Z'))).toThrow('2026-06-01');
  expect(() => requireWithinLifetime(callerExpiresAt, callerExpiresAt)).not.toThrow();
  expect(() => requireWithinLifetime(null, null)).not.toThrow();
});

const token = {
  tokenName: 'checkout',
  type: 'client',
  environment: 'production',
  project: 'shop',
  projects: ['shop'],
  createdAt: '2026-05-01T12:00:00.000Z',
  expiresAt: null,
} as const;
const tokenOf = (projects: readonly string[], environment = 'production') => ({
  ...token,
  project: projects[0] ?? '*',
  projects: [...projects],
  environment,
});

it.each([
  [['shop'], 'production', { project: 'shop', environment: 'production' }],
  [['shop', 'bank'], 'production', { project: null, environment: 'production' }],
  [['*'], 'production', { project: null, environment: 'production' }],
  [['*'], '*', { project: null, environment: null }],
])('the event of a token for the projects %j in the environment %s belongs to %j', (projects, environment, scope) => {
  for (const states of [{ data: tokenOf(projects, environment) }, { preData: tokenOf(projects, environment) }])
    expect(tokenEvent('api-token-created', states)).toMatchObject(scope);
});

it('the event of a token has its properties before and after the change, and not its secret', () => {
  const before = tokenOf(['shop']);
  const after = { ...before, expiresAt: '2026-06-01T12:00:00.000Z' };
  const stored = { ...before, secret: 'a secret' };
  expect(tokenEvent('api-token-updated', { preData: stored, data: after })).toEqual({
    type: 'api-token-updated',
    project: 'shop',
    environment: 'production',
    preData: before,
    data: after,
  });
  expect(tokenEvent('api-token-deleted', { preData: before })).toMatchObject({ preData: before, data: null });
});

it('the event of a token of the settings has the same properties as that of any other', () => {
  const described = initialTokenInEvents(
    { kind: 'client', projects: ['shop'], environment: 'production' },
    token.createdAt,
  );
  expect(described).toEqual({ ...token, tokenName: 'client', projects: ['shop'] });
});

describe('a token', () => {
  it('grants ADMIN to an admin token', () => {
    expect(grantsOfToken({ kind: 'admin', projects: ['*'], environment: '*' })).toEqual([{ permission: 'ADMIN' }]);
    expect(mayCallAdminApi('admin')).toBe(true);
  });

  it('grants an SDK token only the SDK permission in its projects and environment', () => {
    expect(grantsOfToken({ kind: 'client', projects: ['*'], environment: 'development' })).toEqual([
      { permission: 'CLIENT', environment: 'development' },
    ]);
    expect(grantsOfToken({ kind: 'frontend', projects: ['a', 'b'], environment: 'production' })).toEqual([
      { permission: 'FRONTEND', project: 'a', environment: 'production' },
      { permission: 'FRONTEND', project: 'b', environment: 'production' },
    ]);
    expect([mayCallAdminApi('client'), mayCallAdminApi('frontend'), mayCallAdminApi('user')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
