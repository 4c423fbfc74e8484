import { isIdempotent, isPublicOperation, operations, serviceOf, type UserSessions } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { accessApi, placesBehind } from '../../test/access-api.ts';
import { aBrowser } from '../../test/browser.ts';
import { type StartedGateway, startGateway } from '../../test/started-gateway.ts';

let gateway: StartedGateway;
const { aUser } = accessApi(() => gateway);

beforeAll(async () => {
  gateway = await startGateway({ environment: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1' } });
  await gateway.behind(placesBehind(['default', 'shop']));
});
afterAll(() => gateway.stop());

interface Shown {
  readonly id: number;
  readonly secret: string;
}

const written = new Set<string>();

/** The writes of this service that are not idempotent by themselves, by method and path. */
const writes = operations
  .filter((operation) => serviceOf(operation) === 'gateway' && operation.http?.method !== 'GET')
  .filter((operation) => !isIdempotent(operation) && !isPublicOperation(operation))
  .flatMap(({ subject, http }) =>
    http === undefined ? [] : [{ subject, method: http.method, parts: http.url.split('/') }],
  );
const subjectOf = (method: string, path: string): string => {
  const parts = `/api/admin/${path}`.split('/');
  const isIt = (one: (typeof writes)[number]) =>
    one.method === method &&
    one.parts.length === parts.length &&
    one.parts.every((part, nth) => part.startsWith(':') || part === parts[nth]);
  return writes.find(isIt)?.subject ?? `${method} ${path}`;
};

let sent = 0;
const send = async (method: string, path: string, body: unknown, idempotencyKey: string, key?: string) => {
  const response = await gateway.send(`/api/admin/${path}`, {
    method,
    ...(key === undefined ? {} : { key }),
    headers: {
      'idempotency-key': idempotencyKey,
      // A retry may come from another address and program.
      'x-forwarded-for': `192.0.2.${++sent % 200}`,
      'user-agent': `program ${sent}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    answer: { status: response.status, location: response.headers.get('location'), text: await response.text() },
    isAgain: response.headers.get('idempotency-replayed') === 'true',
  };
};

/** Repeats a write with the same key: the response is the same, and no further events are emitted. */
const twice = async (method: string, path: string, body?: unknown, key?: string): Promise<Shown> => {
  const idempotencyKey = randomUUID();
  const first = await send(method, path, body, idempotencyKey, key);
  expect({ path, method, ...first.answer }).toMatchObject({ status: expect.any(Number) });
  if (first.answer.status >= 300) throw new Error(`${method} ${path}: ${first.answer.text}`);
  const emitted = await gateway.emittedEvents();
  const again = await send(method, path, body, idempotencyKey, key);
  expect({ method, path, ...again }).toEqual({ method, path, answer: first.answer, isAgain: true });
  expect(await gateway.emittedEvents()).toEqual(emitted);
  written.add(subjectOf(method, path));
  return (first.answer.text === '' ? {} : JSON.parse(first.answer.text)) as Shown;
};

it('performs every write of users, tokens, roles, groups and access once per Idempotency-Key', async () => {
  const user = await twice('POST', 'user-admin', { username: 'ada', rootRole: 3 });
  await twice('PUT', `user-admin/${user.id}`, { name: 'Ada' });

  const role = await twice('POST', 'roles', { name: 'Maker of one', permissions: [{ name: 'UPDATE_FEATURE' }] });
  await twice('PUT', `roles/${role.id}`, { name: 'Maker of two', permissions: [{ name: 'CREATE_FEATURE' }] });

  const group = await twice('POST', 'groups', { name: 'Crew', users: [{ user: { id: user.id } }] });
  await twice('PUT', `groups/${group.id}`, { name: 'The crew', users: [] });

  const owner = await aUser();
  await twice('POST', 'projects/shop/access', { roles: [4], users: [owner.id], groups: [] });
  await twice('POST', 'projects/shop/access', { roles: [4], users: [user.id], groups: [group.id] });
  await twice('PUT', `projects/shop/users/${user.id}/roles`, { roles: [5] });
  await twice('PUT', `projects/shop/groups/${group.id}/roles`, { roles: [5] });
  await twice('DELETE', `projects/shop/users/${user.id}/roles`);
  await twice('DELETE', `projects/shop/groups/${group.id}/roles`);
  await twice('PUT', 'projects/shop/access', { roles: [{ id: 4, users: [owner.id], groups: [] }] });

  const person = await twice('POST', 'user-admin', { username: 'person', rootRole: 3 });
  const personKey = await twice('POST', `user-admin/${person.id}/token`, { description: 'first' });
  await twice('DELETE', `user-admin/${person.id}/token/${personKey.id}`);
  const account = await twice('POST', 'service-account', { username: 'robot', rootRole: 3 });
  await twice('PUT', `service-account/${account.id}`, { name: 'Robot' });
  const robotKey = await twice('POST', `service-account/${account.id}/token`, { description: 'ci' });
  await twice('DELETE', `service-account/${account.id}/token/${robotKey.id}`);
  await twice('DELETE', `service-account/${account.id}`);

  const signedIn = await twice('POST', 'user-admin', {
    username: 'browsing',
    rootRole: 1,
    password: 'Correct-horse-7',
  });
  const browser = aBrowser(() => gateway);
  const sessionOf = async () => {
    await browser.signIn('browsing', 'Correct-horse-7!');
    const { body } = await browser.send<UserSessions>('GET', '/api/admin/user/sessions');
    return body.sessions[0]?.id ?? '';
  };
  const personal = `user:${'9'.repeat(64)}`;
  await gateway.givenToken({ token: personal, userId: signedIn.id });
  const change = { password: 'Correct-horse-8', oldPassword: 'Correct-horse-7' };
  await twice('POST', 'user/change-password', change, personal);
  await twice('POST', `user-admin/${signedIn.id}/change-password`, { password: 'Correct-horse-7!' });
  await twice('POST', 'user-admin/reset-password', { id: 'browsing' });
  const expiresAt = '2030-01-01T00:00:00.000Z';
  const { secret } = await twice('POST', 'invite-link/tokens', { name: 'for all', expiresAt });
  await twice('PUT', `invite-link/tokens/${secret}`, { enabled: false });
  const stored = await gateway.database.read({ name: 'stored', text: 'select r::text from idempotent_reply r' });
  expect(JSON.stringify(stored)).not.toContain(secret.slice(32));
  expect(JSON.stringify(stored)).not.toMatch(/token=[0-9a-f]{76}/);
  await twice('DELETE', `user/sessions/${await sessionOf()}`, undefined, personal);
  await twice('DELETE', 'user/sessions', undefined, personal);
  await twice('DELETE', `user-admin/${signedIn.id}/sessions`);

  await twice('POST', 'scim-settings', { enabled: true });
  await twice('POST', 'scim-settings/generate-new-token');

  const another = await aUser();
  const pat = await twice('POST', 'user/tokens', { description: 'mine' }, another.key);
  await twice('DELETE', `user/tokens/${pat.id}`, undefined, another.key);

  const token = await twice('POST', 'api-tokens', { tokenName: 'one', type: 'client', environment: 'development' });
  const at = `api-tokens/${encodeURIComponent(token.secret)}`;
  await twice('PUT', at, { expiresAt: '2099-01-01T00:00:00Z' });
  await twice('DELETE', at);
  const within = 'projects/shop/api-tokens';
  const own = await twice('POST', within, {
    tokenName: 'two',
    type: 'client',
    environment: 'development',
    projects: ['shop'],
  });
  await twice('DELETE', `${within}/${encodeURIComponent(own.secret)}`);

  await twice('DELETE', `groups/${group.id}`);
  await twice('DELETE', `roles/${role.id}`);
  await twice('DELETE', `user-admin/${user.id}`);
  await gateway.database.transaction(({ query }) =>
    query("update api_user set created_at = now() - interval '1 year' where id = $1", [person.id]),
  );
  await twice('POST', 'user-admin/inactive/delete', { ids: [person.id] });

  const withoutEffect = /^call\.gateway\.validate-/;
  const effective = writes.map(({ subject }) => subject).filter((subject) => !withoutEffect.test(subject));
  expect(effective.filter((subject) => !written.has(subject))).toEqual([]);
});
