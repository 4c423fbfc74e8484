import { implement } from '@bunting/bus';
import { GetFeature, refusal, unavailable } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { defaultOidcSettings } from '../oidc/oidc-settings.ts';
import { signInMethods } from './sign-in-settings.ts';

let gateway: StartedGateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.stop());

const answer = async (path: string, headers: Record<string, string> = {}) => {
  const response = await gateway.send(path, { key: null, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const form = { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] };

it('a 401 of the Admin API describes the sign-in form, as that of Unleash does, and no other response does', async () => {
  for (const path of ['/api/admin/user', '/api/admin/unknown', '/api/admin/projects?limit=1'])
    expect(await answer(path)).toMatchObject({ status: 401, body: { name: 'AuthenticationRequired', ...form } });
  const cookie = `bunting-session=${'A'.repeat(43)}`;
  expect(await answer('/api/admin/user', { cookie })).toMatchObject({
    status: 401,
    body: { ...form, message: expect.stringContaining('session has ended') },
  });
  const { status, body } = await answer('/api/client/features');
  expect([status, body['path']]).toEqual([401, undefined]);
});

it('so does the 401 of a read whose session or token ends while a service answers', async () => {
  const key = 'user:0123456789abcdef0123456789abcdef';
  await gateway.givenToken({ token: key });
  const endTokens = { text: 'update api_token set revoked_at = now()' };
  const service = await gateway.behind([
    implement(GetFeature, async () => {
      await gateway.database.query(endTokens);
      throw refusal('NotFoundError', 'There is no such feature.');
    }),
  ]);
  const response = await gateway.send('/api/admin/projects/default/features/one', { key });
  expect([response.status, await response.json()]).toMatchObject([401, form]);
  await service.stop();
});

it('a 401 says that nobody has an account until somebody has one, so that the console leads to the first', async () => {
  const { body } = await answer('/api/admin/user');
  expect(body).toMatchObject({ ...form, hasUsers: false });
  const methods = signInMethods({ ...off, hasUsers: () => Promise.resolve(true) });
  expect(await methods()).toEqual(form);
});

it('a 401 with the sign-in form is a problem document for clients that accept only that', async () => {
  const { body } = await answer('/api/admin/user', { accept: 'application/problem+json' });
  expect(body).toMatchObject({ ...form, type: 'urn:bunting:error:AuthenticationRequired', status: 401 });
});

const off = {
  oidc: () => Promise.resolve({ ...defaultOidcSettings, secret: undefined }),
  arePasswordsDisabled: () => Promise.resolve(false),
};

const failingWith = (error: Error) =>
  signInMethods({
    oidc: () => Promise.reject(error),
    arePasswordsDisabled: () => Promise.resolve(false),
    hasUsers: () => Promise.resolve(true),
  });

it('the sign-in form is the last one that was read while the database is unavailable', async () => {
  expect(await failingWith(unavailable('The database is unavailable.'))()).toEqual(form);
});

it('a defect in reading the sign-in form is not hidden', async () => {
  await expect(failingWith(new TypeError('a defect'))()).rejects.toThrow('a defect');
});
