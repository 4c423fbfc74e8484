import { expect, it } from 'vitest';
import { initialTokenInEvents, tokenEvent } from '../../access/tokens/token.ts';

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
