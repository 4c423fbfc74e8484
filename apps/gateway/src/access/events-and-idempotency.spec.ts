import { randomUUID } from 'node:crypto';
import { call, systemContext } from '@bunting/bus';
import {
  type CreatedUser,
  type EventType,
  eventTypes,
  InviteSlackUser,
  type Group,
  httpOperations,
  isIdempotent,
  isPublicOperation,
  operationName,
  type Role,
  serviceOf,
  type UserSessions,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessApi, fakeProjectEndpoints } from '../../test/access-api.ts';
import { aBrowser } from '../../test/browser.ts';
import { eventsOfWrites, writesWithoutEvents } from '../../test/events-of-writes.ts';
import { clientId, clientSecret, startOpenIdProvider } from '../../test/openid-provider.ts';
import { adminToken, startGateway, startedGateway } from '../../test/started-gateway.ts';

describe('each write', () => {
  const gateway = startedGateway({ environment: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1' } });
  const { aUser, done } = accessApi(() => gateway);
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default', 'shop'])));

  interface Shown {
    readonly id: number;
    readonly secret: string;
  }

  const written = new Set<string>();
  /** The types of the events that each write has emitted in this spec. */
  const emitted = new Map<string, Set<EventType>>();

  /** The writes of this service that have an endpoint, by method and path. */
  const writes = httpOperations
    .filter((operation) => serviceOf(operation) === 'gateway' && operation.respondsFromMemory !== true)
    .flatMap((operation) => {
      const { http } = operation;
      if (http === undefined || http.method === 'GET') return [];
      return [{ operation, name: operationName(operation), method: http.method, parts: http.url.split('/') }];
    });
  const writeAt = (method: string, path: string): string => {
    const parts = path.split('/');
    const isIt = (one: (typeof writes)[number]) =>
      one.method === method &&
      one.parts.length === parts.length &&
      one.parts.every((part, nth) => part.startsWith(':') || part === parts[nth]);
    return writes.find(isIt)?.name ?? `${method} ${path}`;
  };

  /** Performs a write, and records the types of its events. */
  const recordingEvents = async <T>(write: string, perform: () => Promise<T>, on = gateway): Promise<T> => {
    const before = (await on.emittedEvents()).length;
    const result = await perform();
    const types = (await on.emittedEvents()).slice(before).map(({ type }) => type);
    emitted.set(write, new Set([...(emitted.get(write) ?? []), ...types]));
    return result;
  };

  let sent = 0;
  const send = async (
    method: string,
    path: string,
    body: unknown,
    idempotencyKey: string,
    key?: string,
    cookie = '',
  ) => {
    const response = await gateway.send(`/api/admin/${path}`, {
      method,
      ...(key === undefined ? {} : { key }),
      ...(cookie === '' ? {} : { key: null }),
      headers: {
        ...(cookie === '' ? {} : { cookie, 'sec-fetch-site': 'same-origin' }),
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
  const twice = async (method: string, path: string, body?: unknown, key?: string, cookie?: string): Promise<Shown> => {
    const idempotencyKey = randomUUID();
    const write = writeAt(method, `/api/admin/${path}`);
    const first = await recordingEvents(write, () => send(method, path, body, idempotencyKey, key, cookie));
    expect({ path, method, ...first.answer }).toMatchObject({ status: expect.any(Number) });
    if (first.answer.status >= 300) throw new Error(`${method} ${path}: ${first.answer.text}`);
    const events = await gateway.emittedEvents();
    const again = await send(method, path, body, idempotencyKey, key, cookie);
    expect({ method, path, ...again }).toEqual({ method, path, answer: first.answer, isAgain: true });
    expect(await gateway.emittedEvents()).toEqual(events);
    written.add(write);
    return (first.answer.text === '' ? {} : JSON.parse(first.answer.text)) as Shown;
  };

  it('performs every write of users, tokens, roles, groups and access once per Idempotency-Key', async () => {
    const user = await twice('POST', 'user-admin', { username: 'ada', rootRole: 3 });
    await twice('PUT', `user-admin/${user.id}`, { name: 'Ada' });

    const role = await twice('POST', 'roles', { name: 'Maker of one', permissions: [{ name: 'UPDATE_FEATURE' }] });
    await twice('PUT', `roles/${role.id}`, { name: 'Maker of two', permissions: [{ name: 'CREATE_FEATURE' }] });

    const group = await twice('POST', 'groups', { name: 'Crew', users: [{ user: { id: user.id } }] });
    await twice('PUT', `groups/${group.id}`, { name: 'The crew', users: [] });
    await twice('PUT', `groups/${group.id}`, { name: 'The crew', users: [{ user: { id: user.id } }] });

    const owner = await aUser();
    await twice('POST', 'projects/shop/access', { roles: [4], users: [owner.id], groups: [] });
    await twice('POST', 'projects/shop/access', { roles: [4], users: [user.id], groups: [group.id] });
    await twice('PUT', `projects/shop/users/${user.id}/roles`, { roles: [5] });
    await twice('PUT', `projects/shop/groups/${group.id}/roles`, { roles: [5] });
    await twice('DELETE', `projects/shop/users/${user.id}/roles`);
    await twice('DELETE', `projects/shop/groups/${group.id}/roles`);
    await twice('PUT', 'projects/shop/access', { roles: [4, 5].map((id) => ({ id, users: [owner.id], groups: [] })) });

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
      email: 'browsing@example.org',
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
    const stored = await gateway.database.read({ text: 'select r::text from idempotent_reply r' });
    expect(JSON.stringify(stored)).not.toContain(secret.slice(32));
    expect(JSON.stringify(stored)).not.toMatch(/token=[0-9a-f]{76}/);
    await sessionOf();
    const linkSlack = async (): Promise<Shown> => {
      const slackUser = {
        teamId: 'T1',
        teamName: 'acme',
        slackUserId: 'U1',
        slackUserName: 'browsing',
        email: 'browsing@example.org',
      };
      const { token } = await call(gateway.bus, InviteSlackUser, { body: slackUser }, systemContext(10_000));
      return twice('POST', 'user/slack-accounts', { token }, undefined, browser.cookie());
    };
    await twice('DELETE', `user/slack-accounts/${(await linkSlack()).id}`, undefined, personal);
    await twice('DELETE', `user-admin/${signedIn.id}/slack-accounts/${(await linkSlack()).id}`);
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

    const effective = writes.filter(({ operation }) => !isIdempotent(operation) && !isPublicOperation(operation));
    expect(effective.map(({ name }) => name).filter((name) => !written.has(name))).toEqual([]);
  });

  /** Performs a write once, as a browser without a token or as the administrator. */
  const once = (path: string, body: object, key: string | null = null, on = gateway): Promise<void> =>
    recordingEvents(
      writeAt('POST', path),
      async () => {
        const headers = { 'content-type': 'application/json' };
        const { ok, status } = await on.send(path, { method: 'POST', key, headers, body: JSON.stringify(body) });
        expect({ path, status }).toEqual({ path, status: ok ? status : 'a success' });
      },
      on,
    );

  it('every write of the gateway emits its events, or has a reason to emit none', async () => {
    const password = 'Correct-horse-7';
    const { inviteLink } = await done<CreatedUser>('POST', 'user-admin', { username: 'invited', rootRole: 3 });
    await once('/auth/reset/password-email', { email: 'unknown@example.org' });
    await once('/auth/reset/password', { token: new URL(inviteLink).searchParams.get('token'), password });
    await once('/auth/simple/login', { username: 'invited', password });
    const link = await done<Shown>('POST', 'invite-link/tokens', {
      name: 'open',
      expiresAt: '2030-01-01T00:00:00.000Z',
    });
    await once(`/invite/${link.secret}/signup`, { name: 'Guest', email: 'guest@example.org', password });

    const fresh = await startGateway({ environment: { BUNTING_ADMIN_TOKEN: '' } });
    const firstLink = new URL(fresh.firstAdminLink ?? '').searchParams.get('token');
    await once('/auth/first', { token: firstLink, username: 'first', password }, null, fresh);
    await fresh.stop();

    const provider = await startOpenIdProvider(gateway.url);
    const oidc = { enabled: true, discoverUrl: provider.issuer, clientId, secret: clientSecret };
    await once('/api/admin/auth/oidc/settings', oidc, adminToken);
    await once('/api/admin/auth/simple/settings', { disabled: true }, adminToken);
    await provider.stop();

    const performed = [...emitted].map(([write, types]) => [write, [...types].sort()] as const);
    expect(Object.fromEntries(performed.filter(([, types]) => types.length > 0))).toEqual(eventsOfWrites);
    expect(
      performed.flatMap(([write, types]) => (types.length > 0 || write in writesWithoutEvents ? [] : [write])),
    ).toEqual([]);
    const listed = [...Object.keys(eventsOfWrites), ...Object.keys(writesWithoutEvents)];
    expect(listed.toSorted()).toEqual(writes.map(({ name }) => name).toSorted());
  });

  /** Event types of access control that the API lists and Bunting does not emit: those of older versions of Unleash. */
  const neverEmitted = /^project-(user|group)-|^setting-deleted$/;
  const ofAccess =
    /^(api-token|pat|public-signup-token|user|role|group|project-(access|user|group)|setting|service-account|slack-account)-/;

  it('every event type of access control is emitted by a write of the gateway', () => {
    const types = eventTypes.filter((type) => ofAccess.test(type) && !neverEmitted.test(type));
    expect([...new Set(Object.values(eventsOfWrites).flat())].toSorted()).toEqual(types.toSorted());
  });
});

describe('each read', () => {
  const gateway = startedGateway();
  const { send, done, aUser } = accessApi(() => gateway);
  beforeAll(() => gateway.behind(fakeProjectEndpoints(['default'])));

  it('reads users, groups, roles and access while a transaction has locked them', async () => {
    const { id: user, key } = await aUser();
    const { id: account } = await done<{ id: number }>('POST', 'service-account', { username: 'robot', rootRole: 3 });
    const { id: group } = await done<Group>('POST', 'groups', { name: 'those at work', users: [] });
    const { id: role } = await done<Role>('POST', 'roles', { name: 'a role at work', permissions: [] });
    const paths = [`user-admin/${user}`, `service-account/${account}/token`, `groups/${group}`, `roles/${role}`];
    await gateway.database.transaction(async ({ query }) => {
      await query('select from api_user where id = any ($1::integer[]) for update', [[user, account]]);
      await query('select from user_group where id = $1 for update', [group]);
      await query('select from role where id = $1 for update', [role]);
      await query('select pg_advisory_xact_lock(hashtext($1), hashtext($2))', ['project access', 'default']);
      for (const path of [...paths, 'projects/default/access']) {
        expect([path, (await send('GET', path)).status]).toEqual([path, 200]);
      }
      for (const path of ['user', 'user/profile']) {
        expect([path, (await send('GET', path, undefined, key)).status]).toEqual([path, 200]);
      }
    });
  });
});
