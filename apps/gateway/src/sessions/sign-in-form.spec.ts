import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';

let gateway: StartedGateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.stop());

const answer = async (path: string, headers: Record<string, string> = {}) => {
  const response = await gateway.ask(path, { key: null, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const form = { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] };

it('says with each 401 of the Admin API how people sign in, as Unleash does, and nowhere else', async () => {
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

it('keeps the type of a problem for clients that ask for one', async () => {
  const { body } = await answer('/api/admin/user', { accept: 'application/problem+json' });
  expect(body).toMatchObject({ ...form, type: 'urn:bunting:error:AuthenticationRequired', status: 401 });
});
