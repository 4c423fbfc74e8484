import { type ErrorBody, type Me, unavailable, type Users } from '@bunting/contracts';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { aBrowser } from '../../../test/browser.ts';
import { freshGatewayDatabase, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { ensureFirstCredentials } from './first-admin.ts';

const started: StartedGateway[] = [];
const dropped: (() => Promise<void>)[] = [];
const start = async (environment: Record<string, string>, databaseUrl?: string): Promise<StartedGateway> => {
  const gateway = await startGateway({
    environment: { BUNTING_ADMIN_TOKEN: '', ...environment },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  started.push(gateway);
  return gateway;
};
const aDatabase = async (): Promise<string> => {
  const { url, drop } = await freshGatewayDatabase();
  dropped.push(drop);
  return url;
};
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.stop();
  for (const drop of dropped.splice(0)) await drop();
});

const tokenIn = (link: string | undefined): string => new URL(link ?? '').searchParams.get('token') ?? '';
const password = 'Correct-horse-7';

it('the first administrator is created once, by the link of the first start, which also signs them in', async () => {
  const url = await aDatabase();
  const gateway = await start({ GATEWAY_PUBLIC_URL: 'https://flags.example.org' }, url);
  expect(gateway.firstAdminLink).toMatch(/^https:\/\/flags\.example\.org\/first\?token=[0-9a-f]{76}$/);
  const token = tokenIn(gateway.firstAdminLink);
  expect(gateway.logged()).not.toContain(token);
  const later = await start({}, url);
  const ofLater = tokenIn(later.firstAdminLink);
  const one = aBrowser(() => gateway);
  const create = (body: object) => one.send<ErrorBody>('POST', '/auth/first', body);
  expect((await one.send('GET', `/auth/first/validate?token=${token}`)).status).toBe(200);
  const unknown = await create({ token: 'x', username: 'ada', password });
  expect([unknown.status, unknown.body.name]).toEqual([401, 'InvalidTokenError']);
  expect((await create({ token, username: 'ada', password: 'weak' })).body.name).toBe('OwaspValidationError');
  expect((await create({ token, name: 'no name for machines', password })).status).toBe(400);
  const both = await Promise.all([
    create({ token, username: 'ada', password }),
    aBrowser(() => later).send('POST', '/auth/first', { token: ofLater, username: 'eve', password }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 403]);
  const listed = await gateway.send('/api/admin/user-admin', { key: gateway.firstAdminToken ?? '' });
  const { users } = (await listed.json()) as Users;
  expect(users).toHaveLength(1);
  for (const used of [token, ofLater]) {
    expect((await create({ token: used, username: 'mallory', password })).status).toBe(403);
    expect((await one.send('GET', `/auth/first/validate?token=${used}`)).status).toBe(403);
  }
  const events = (await gateway.emittedEvents()).filter(({ type }) => type === 'user-created');
  expect(events).toHaveLength(1);
  expect((await start({}, url)).firstAdminLink).toBeUndefined();
});

it('the link of the first start signs in the browser that uses it', async () => {
  const gateway = await start({});
  const one = aBrowser(() => gateway);
  const token = tokenIn(gateway.firstAdminLink);
  expect(gateway.firstAdminLink).toBe(`${gateway.url}/first?token=${token}`);
  await gateway.database.transaction(({ query }) =>
    query("update sign_in_link set expires_at = now() - interval '1 s'"),
  );
  expect((await one.send('POST', '/auth/first', { token, email: 'ada@example.org', password })).status).toBe(401);
  await gateway.database.transaction(({ query }) =>
    query("update sign_in_link set expires_at = now() + interval '1 s'"),
  );
  expect((await one.send('POST', '/auth/first', { token, email: 'ada@example.org', password })).status).toBe(201);
  const { body } = await one.send<Me>('GET', '/api/admin/user');
  expect(body.user.email).toBe('ada@example.org');
  expect(body.permissions).toEqual([{ permission: 'ADMIN' }]);
});

it('the first administrator is created once from the settings, and then there is no link', async () => {
  const url = await aDatabase();
  const settings = { INIT_ADMIN_EMAIL: 'ops@example.org', INIT_ADMIN_PASSWORD: password };
  const gateway = await start(settings, url);
  expect(gateway.firstAdminLink).toBeUndefined();
  const one = aBrowser(() => gateway);
  await one.signIn('ops@example.org', password);
  expect((await one.send<Me>('GET', '/api/admin/user')).body.permissions).toEqual([{ permission: 'ADMIN' }]);
  const change = { password: 'Correct-horse-8', oldPassword: password };
  expect((await one.send('POST', '/api/admin/user/change-password', change)).status).toBe(200);
  // A restart with the same settings changes nothing.
  await aBrowser(() => gateway).signIn('ops@example.org', 'Correct-horse-8');
  const again = await start(settings, url);
  await eventually(() => aBrowser(() => again).signIn('ops@example.org', 'Correct-horse-8'));
});

it('there is a link for the first administrator while there is no user, also where the settings give an admin token', async () => {
  const key = 'a-token-that-is-given';
  const gateway = await start({ BUNTING_ADMIN_TOKEN: key });
  const token = tokenIn(gateway.firstAdminLink);
  const created = await gateway.send('/api/admin/user-admin', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', rootRole: 1 }),
  });
  expect(created.status).toBe(201);
  const late = await aBrowser(() => gateway).send('POST', '/auth/first', { token, username: 'eve', password });
  expect(late.status).toBe(403);
});

it.each([
  [{ INIT_ADMIN_EMAIL: 'ops@example.org' }, 'INIT_ADMIN_PASSWORD'],
  [{ INIT_ADMIN_PASSWORD: password }, 'INIT_ADMIN_EMAIL'],
  [{ INIT_ADMIN_EMAIL: 'ops@example.org', INIT_ADMIN_PASSWORD: 'weak' }, 'at least 10 characters'],
  [
    { INIT_ADMIN_EMAIL: 'no address', INIT_ADMIN_PASSWORD: password },
    /^INIT_ADMIN_EMAIL is not accepted: The email must be an address\.$/,
  ],
  [{ SMTP_URL: 'smtp://127.0.0.1:1' }, 'GATEWAY_PUBLIC_URL'],
])('a gateway with %j as its first administrator does not start, and names the fault', async (settings, named) => {
  await expect(start(settings as Record<string, string>, 'postgresql://127.0.0.1:1/none')).rejects.toThrow(named);
});

/** A start of which each attempt at a read, and at a write, is recorded and then may fail. */
const aStart = (attempt: (what: 'read' | 'write', nth: number) => void, stopping = new AbortController().signal) => {
  const attempts: string[] = [];
  const record = (what: 'read' | 'write') => attempt(what, attempts.push(what));
  const credentials = ensureFirstCredentials({
    transaction: (async () => record('write')) as never,
    reads: {
      users: {
        hasUsers: async () => {
          record('read');
          return true;
        },
      },
    } as never,
    passwords: {} as never,
    tokens: { adminToken: undefined, initial: [] },
    admin: undefined,
    warn: () => undefined,
    stopping,
  });
  return { credentials, attempts };
};

it('a start waits for a database that is slow to accept connections, and never repeats a write', async () => {
  const { credentials, attempts } = aStart((what, nth) => {
    if (what === 'write') throw unavailable('The connection was lost after COMMIT.');
    if (nth === 1) throw unavailable('The database did not accept a connection in time.');
  });
  await expect(credentials).rejects.toThrow('lost after COMMIT');
  expect(attempts).toEqual(['read', 'read', 'write']);
});

it('a start that waits for the database ends when the process is stopped', async () => {
  const stopping = new AbortController();
  const { credentials, attempts } = aStart(() => {
    stopping.abort();
    throw unavailable('The database did not accept a connection in time.');
  }, stopping.signal);
  await expect(credentials).rejects.toThrow('did not accept a connection');
  expect(attempts).toEqual(['read']);
});
