import { expect, it } from '@jest/globals';
import { configuredTokens } from './configured-tokens.ts';

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
