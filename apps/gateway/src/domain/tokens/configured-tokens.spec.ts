import { expect, it } from 'vitest';
import { adminTokenAction, configuredTokens, type StoredConfiguredToken } from '../../access/tokens/initial-tokens.ts';

it('parses comma-separated tokens in the format of Unleash', () => {
  const { initial } = configuredTokens({
    INIT_ADMIN_API_TOKENS: '*:*.one-secret, *:*.another-secret,',
    INIT_CLIENT_API_TOKENS: 'default:development.third',
    INIT_FRONTEND_API_TOKENS: '*:production.with.dots:and-colons',
  });
  expect(initial).toEqual([
    { kind: 'admin', secret: '*:*.one-secret', projects: ['*'], environment: '*' },
    { kind: 'admin', secret: '*:*.another-secret', projects: ['*'], environment: '*' },
    { kind: 'client', secret: 'default:development.third', projects: ['default'], environment: 'development' },
    { kind: 'frontend', secret: '*:production.with.dots:and-colons', projects: ['*'], environment: 'production' },
  ]);
  expect(configuredTokens({})).toEqual({ adminToken: undefined, initial: [] });
});

it('a token that the settings contain twice counts once, with its first kind', () => {
  const secret = 'default:development.twice';
  const { initial } = configuredTokens({
    INIT_CLIENT_API_TOKENS: `${secret},${secret}`,
    INIT_FRONTEND_API_TOKENS: secret,
  });
  expect(initial).toMatchObject([{ kind: 'client', secret }]);
});

it.each<[action: string, stored: string, Partial<StoredConfiguredToken> | undefined]>([
  ['add', 'is not stored', undefined],
  ['keep', 'is that of the last start', { configured: 'current' }],
  ['of-another-kind', 'belongs to an SDK', { kind: 'client' }],
  ['mark-as-current', 'is another admin token', {}],
  ['restore', 'was replaced by another value', { configured: 'replaced', revokedAt: '2026-02-01T00:00:00.000Z' }],
  [
    'stays-revoked',
    'was revoked by an administrator',
    { configured: 'current', revokedAt: '2026-02-01T00:00:00.000Z' },
  ],
  ['stays-revoked', 'was another token and revoked', { revokedAt: '2026-02-01T00:00:00.000Z' }],
])('the action of a start is %j where the token of BUNTING_ADMIN_TOKEN %s', (action, _, stored) => {
  const unmarked: StoredConfiguredToken = {
    id: 'a',
    kind: 'admin',
    maskedSecret: 'given-a...',
    createdAt: '2026-01-01T00:00:00.000Z',
    revokedAt: null,
    configured: null,
  };
  expect(adminTokenAction(stored && { ...unmarked, ...stored })).toBe(action);
});

it.each([
  ['INIT_ADMIN_API_TOKENS', '*:*.good,default:*.narrow'],
  ['INIT_ADMIN_API_TOKENS', '*:*.good,nothing-like-it'],
  ['INIT_CLIENT_API_TOKENS', '*:development.good,*:*.everywhere'],
  ['INIT_CLIENT_API_TOKENS', '*:development.good,default:.none'],
  ['INIT_FRONTEND_API_TOKENS', 'a:b.good,[]:development.which-ones'],
  ['INIT_FRONTEND_API_TOKENS', 'a:b.good,a:b.'],
])('rejects a malformed token of %s by its position without quoting the secret: %s', (setting, value) => {
  const attempt = () => configuredTokens({ [setting]: value });
  expect(attempt).toThrow(new RegExp(`Token 2 of ${setting} must have the form`));
  expect(attempt).not.toThrow(/narrow|everywhere|nothing-like|which-ones/);
});
