import type { CreatedUser, ErrorBody, InviteLink, Me, OutboxMessage, ResetLinkUser, User } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { accessApi, fakeProjectEndpoints } from '../../../test/access-api.ts';
import { aBrowser } from '../../../test/browser.ts';
import { type StartedGateway, startGateway } from '../../../test/started-gateway.ts';
import { applyProjectStates } from '../rights/project-store.ts';

let gateway: StartedGateway;
const { aUser, done, send, emittedBy } = accessApi(() => gateway);
let made = 0;
const browser = () => aBrowser(() => gateway, `10.2.0.${++made}`);
const password = 'Correct-horse-7';
const nth = (n: number) => `Correct-horse-${n}`;

/** The mails that a real mail server received. */
const mails: { readonly to: string[]; readonly text: string }[] = [];
let mailServer: SMTPServer;
/** the token of the identity provider that provisions users */
let scimKey: string;

const aPerson = async (more: object = { password }) => {
  const username = `person-${++made}`;
  const email = `${username}@example.org`;
  const created = await done<CreatedUser>('POST', 'user-admin', {
    username,
    email,
    name: username,
    rootRole: 3,
    ...more,
  });
  return { ...created, username, email };
};
const tokenIn = (url: string): string => new URL(url).searchParams.get('token') ?? '';

beforeAll(async () => {
  mailServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => void mailServer.listen(0, '127.0.0.1', resolve));
  const { port } = mailServer.server.address() as AddressInfo;
  gateway = await startGateway({
    environment: {
      GATEWAY_TRUSTED_PROXIES: '127.0.0.1',
      GATEWAY_PUBLIC_URL: 'https://flags.example.org/',
      SMTP_URL: `smtp://127.0.0.1:${port}`,
    },
  });
  await gateway.behind(fakeProjectEndpoints(['default', 'brief']));
  await done('POST', 'scim-settings', { enabled: true });
  scimKey = (await done<{ token: string }>('POST', 'scim-settings/generate-new-token')).token;
});
afterAll(async () => {
  await gateway.stop();
  await new Promise<void>((resolve) => mailServer.close(resolve));
});

describe('a new password', () => {
  it('is refused with each rule that it breaks, in the words that Unleash user interfaces know', async () => {
    const check = async (given: string) => {
      const { status, body } = await browser().send<ErrorBody>('POST', '/auth/reset/validate-password', {
        password: given,
      });
      return [status, body.name, body.details?.[0]?.validationErrors];
    };
    expect(await check(password)).toEqual([200, undefined, undefined]);
    expect(await check('a long passphrase of words')).toEqual([200, undefined, undefined]);
    expect(await check('aaab')).toEqual([
      400,
      'OwaspValidationError',
      [
        'The password must be at least 10 characters long.',
        'The password may not contain sequences of three or more repeated characters.',
        'The password must contain at least one uppercase letter.',
        'The password must contain at least one number.',
        'The password must contain at least one special character.',
      ],
    ]);
    expect((await send('POST', 'user-admin/validate-password', { password: 'weak' })).status).toBe(400);
    expect((await send('POST', 'user-admin/validate-password', { password })).status).toBe(200);
  });

  it('may be weak where an administrator gives a new user the first, as scripts and Terraform do', async () => {
    const created = await send('POST', 'user-admin', { username: 'weak', rootRole: 3, password: 'weak' });
    expect(created.status).toBe(201);
  });

  it('replaces the own one by the present one, ends all sessions, and signs this browser in again', async () => {
    const { id, username } = await aPerson();
    const [one, other] = [browser(), browser()];
    await one.signIn(username, password);
    await other.signIn(username, password);
    const before = one.cookie();
    const change = (body: object) => one.send<ErrorBody>('POST', '/api/admin/user/change-password', body);
    const wrong = await change({ password: nth(8), confirmPassword: nth(8), oldPassword: 'wrong' });
    expect([wrong.status, wrong.body.name]).toEqual([401, 'PasswordMismatch']);
    const unlike = await change({ password: nth(8), confirmPassword: nth(9), oldPassword: password });
    expect([unlike.status, unlike.body.name]).toEqual([400, 'ValidationError']);
    expect((await change({ password: nth(8), confirmPassword: nth(8), oldPassword: password })).status).toBe(200);
    expect(one.cookie()).not.toBe(before);
    expect((await one.send<Me>('GET', '/api/admin/user')).body.user.id).toBe(id);
    expect((await one.send('GET', '/api/admin/user', undefined, { cookie: before })).status).toBe(401);
    expect((await other.send('GET', '/api/admin/user')).status).toBe(401);
    expect((await send('POST', 'user/change-password', { password: nth(8), oldPassword: nth(7) })).status).toBe(403);
  });

  it('is none of the last five passwords of the user', async () => {
    const { id, username } = await aPerson();
    const set = async (given: string) => {
      const { status, body } = await send('POST', `user-admin/${id}/change-password`, { password: given });
      return status === 200 ? 200 : body.name;
    };
    for (const n of [1, 2, 3, 4]) expect(await set(nth(n))).toBe(200);
    for (const n of [1, 2, 3, 4, 7]) expect([n, await set(nth(n))]).toEqual([n, 'PasswordPreviouslyUsedError']);
    expect(await set(nth(5))).toBe(200);
    expect(await set(password)).toBe(200);
    expect(await set(nth(1))).toBe(200);
    await browser().signIn(username, nth(1));
    expect((await send('POST', 'user-admin/987654/change-password', { password })).status).toBe(404);
  });

  it('is set by an administrator, which ends the sessions of the user', async () => {
    const { id, username } = await aPerson();
    const one = browser();
    await one.signIn(username, password);
    await done('POST', `user-admin/${id}/change-password`, { password: nth(8), confirmPassword: nth(8) });
    expect((await one.send('GET', '/api/admin/user')).status).toBe(401);
    await one.signIn(username, nth(8));
  });
});

describe('a link to choose a password', () => {
  it('is handed over by an administrator, and works once', async () => {
    const { id, username, email } = await aPerson();
    const one = browser();
    await one.signIn(username, password);
    const { resetPasswordUrl } = await done<{ resetPasswordUrl: string }>('POST', 'user-admin/reset-password', {
      id: email,
    });
    expect(resetPasswordUrl).toMatch(/^https:\/\/flags\.example\.org\/reset-password\?token=[0-9a-f]{76}$/);
    const token = tokenIn(resetPasswordUrl);
    const validate = (given: string) =>
      browser().send<ResetLinkUser & ErrorBody>('GET', `/auth/reset/validate?token=${given}`);
    expect((await validate(token)).body).toEqual({
      id,
      name: username,
      email,
      token,
      createdBy: 'admin',
      role: expect.objectContaining({ id: 3, name: 'Viewer' }),
    });
    const choose = (given: string, chosen = nth(8)) =>
      browser().send<ErrorBody>('POST', '/auth/reset/password', { token: given, password: chosen });
    expect((await choose(token, 'weak')).body.name).toBe('OwaspValidationError');
    expect((await choose(token, password)).body.name).toBe('PasswordPreviouslyUsedError');
    expect((await choose(token)).status).toBe(200);
    expect((await one.send('GET', '/api/admin/user')).status).toBe(401);
    await one.signIn(username, nth(8));
    const again = await choose(token, nth(9));
    expect([again.status, again.body.name]).toEqual([403, 'UsedTokenError']);
    expect((await validate(token)).status).toBe(403);
    const unknown = await validate('x'.repeat(76));
    expect([unknown.status, unknown.body.name]).toEqual([401, 'InvalidTokenError']);
    expect(gateway.logged()).not.toContain(token);
    const events = JSON.stringify(await gateway.emittedEvents());
    expect(events).not.toContain(token);
    const rows = await gateway.database.read({ text: 'select sign_in_link::text from sign_in_link' });
    expect(JSON.stringify(rows)).not.toContain(token.slice(12));
  });

  it('is good for one of two concurrent choices', async () => {
    const { email, username } = await aPerson();
    const { resetPasswordUrl } = await done<{ resetPasswordUrl: string }>('POST', 'user-admin/reset-password', {
      id: email,
    });
    const token = tokenIn(resetPasswordUrl);
    const chosen = [nth(8), nth(9)];
    const answers = await Promise.all(
      chosen.map((one) => browser().send('POST', '/auth/reset/password', { token, password: one })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
    await browser().signIn(username, chosen[answers.findIndex(({ status }) => status === 200)] as string);
  });

  it('stops working after a day, with a newer link, and with its user', async () => {
    const link = async (id: string) =>
      tokenIn((await done<{ resetPasswordUrl: string }>('POST', 'user-admin/reset-password', { id })).resetPasswordUrl);
    const status = async (token: string) => (await browser().send('GET', `/auth/reset/validate?token=${token}`)).status;
    const { id, username } = await aPerson();
    const first = await link(username);
    const second = await link(username);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    const age = 'update sign_in_link set expires_at = now() where user_id = $1';
    await gateway.database.transaction(({ query }) => query(age, [id]));
    expect(await status(second)).toBe(401);
    const third = await link(username);
    await done('PUT', `user-admin/${id}`, { active: false });
    expect(await status(third)).toBe(401);
    await done('PUT', `user-admin/${id}`, { active: true });
    await done('DELETE', `user-admin/${id}`);
    expect(await status(third)).toBe(401);
    expect((await send('POST', 'user-admin/reset-password', { id: username })).status).toBe(404);
  });

  it.each<[change: string, make: (person: { id: number; username: string; scimKey: string }) => Promise<unknown>]>([
    [
      'the user changes the password',
      async ({ username }) => {
        const one = browser();
        await one.signIn(username, password);
        const body = { password: nth(8), confirmPassword: nth(8), oldPassword: password };
        expect((await one.send('POST', '/api/admin/user/change-password', body)).status).toBe(200);
      },
    ],
    [
      'an administrator changes the password',
      ({ id }) => done('POST', `user-admin/${id}/change-password`, { password: nth(8), confirmPassword: nth(8) }),
    ],
    [
      'the e-mail address changes',
      ({ id, username }) => done('PUT', `user-admin/${id}`, { email: `${username}@elsewhere.example` }),
    ],
    [
      'an identity provider changes the e-mail address',
      async ({ id, username, scimKey: key }) => {
        const value = `${username}@provider.example`;
        const body = JSON.stringify({ Operations: [{ op: 'replace', path: 'emails[type eq "work"].value', value }] });
        const headers = { 'content-type': 'application/scim+json' };
        const response = await gateway.send(`/scim/v2/Users/${id}`, {
          key: `Bearer ${key}`,
          method: 'PATCH',
          headers,
          body,
        });
        expect(response.status).toBe(200);
      },
    ],
    [
      'the user is deactivated, even if activated again',
      async ({ id }) => {
        await done('PUT', `user-admin/${id}`, { active: false });
        await done('PUT', `user-admin/${id}`, { active: true });
      },
    ],
  ])('ends when %s', async (_change, make) => {
    const { id, username } = await aPerson();
    const { resetPasswordUrl } = await done<{ resetPasswordUrl: string }>('POST', 'user-admin/reset-password', {
      id: username,
    });
    await make({ id, username, scimKey });
    const choice = { token: tokenIn(resetPasswordUrl), password: nth(9) };
    expect((await browser().send('POST', '/auth/reset/password', choice)).status).toBe(401);
  });

  it('is sent by mail to the user who requests it, and the response is the same for unknown names', async () => {
    const { email, username } = await aPerson();
    const request = async (given: string) => {
      const { status, body } = await browser().send('POST', '/auth/reset/password-email', { email: given });
      return { status, body };
    };
    const before = mails.length;
    expect(await request(email)).toEqual({ status: 200, body: '' });
    await eventually(async () => expect(mails.length).toBe(before + 1));
    expect(mails.at(-1)?.to).toEqual([email]);
    const url = /https:\/\/flags\.example\.org\/reset-password\?token=[0-9a-f]{76}/.exec(mails.at(-1)?.text ?? '')?.[0];
    expect(await request('unknown@example.org')).toEqual({ status: 200, body: '' });
    expect(await request(`${email}, other@example.org`)).toEqual({ status: 200, body: '' });
    expect(await request(username)).toEqual({ status: 200, body: '' });
    const choice = { token: tokenIn(url ?? ''), password: nth(8) };
    expect((await browser().send('POST', '/auth/reset/password', choice)).status).toBe(200);
    await browser().signIn(email, nth(8));
    expect(mails.length).toBe(before + 1);
  });

  it('is given to a new user without a password, in the response and by mail unless that is not wanted', async () => {
    const before = mails.length;
    const invited = await aPerson({});
    expect(invited.inviteLink).toMatch(/^https:\/\/flags\.example\.org\/new-user\?token=[0-9a-f]{76}$/);
    expect(invited.emailSent).toBe(true);
    expect(mails.slice(before)).toEqual([{ to: [invited.email], text: expect.stringContaining(invited.inviteLink) }]);
    expect((await aPerson({ sendEmail: false })).emailSent).toBe(false);
    expect(await aPerson()).toMatchObject({ inviteLink: '', emailSent: false });
    expect(mails.length).toBe(before + 1);
    const choice = { token: tokenIn(invited.inviteLink), password };
    expect((await browser().send('POST', '/auth/reset/password', choice)).status).toBe(200);
    await browser().signIn(invited.email, password);
  });
});

describe('an invitation link', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const create = (name = `link ${++made}`) =>
    done<InviteLink>('POST', 'invite-link/tokens', { name, expiresAt: inAnHour() });
  const signUp = (secret: string, body: object) =>
    browser().send<User & ErrorBody>('POST', `/invite/${secret}/signup`, body);
  const validate = async (secret: string) => (await browser().send('GET', `/invite/${secret}/validate`)).status;

  it('is created, listed with its secret, and changed by administrators', async () => {
    let link: InviteLink | undefined;
    const events = await emittedBy(async () => void (link = await create('for the team')));
    const { secret, url, role } = link as InviteLink;
    expect(url).toBe(`https://flags.example.org/new-user?invite=${secret}`);
    expect(role.name).toBe('Viewer');
    expect(link).toMatchObject({ name: 'for the team', enabled: true, users: [], createdBy: 'admin' });
    expect(events).toMatchObject([{ type: 'public-signup-token-created', data: { name: 'for the team' } }]);
    expect(JSON.stringify(events)).not.toContain(secret);
    const { tokens } = await done<{ tokens: InviteLink[] }>('GET', 'invite-link/tokens');
    expect(tokens).toContainEqual(link);
    expect(await done('GET', `invite-link/tokens/${secret}`)).toEqual(link);
    const changed = await emittedBy(() => done('PUT', `invite-link/tokens/${secret}`, { enabled: false }));
    expect(changed).toMatchObject([
      { type: 'public-signup-token-updated', data: { enabled: false }, preData: { enabled: true } },
    ]);
    const forged = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`;
    expect((await send('GET', `invite-link/tokens/${forged}`)).status).toBe(404);
    expect((await send('PUT', 'invite-link/tokens/none', { enabled: true })).status).toBe(404);
    const rows = await gateway.database.read({ text: 'select invite_link::text from invite_link' });
    expect(JSON.stringify(rows)).not.toContain(secret.slice(32));
  });

  it("gives the root role that was chosen, though not Admin, and Viewer once that role or its creator's right to give it is gone", async () => {
    const createWith = (rootRole: number) => ({ name: `link ${++made}`, expiresAt: inAnHour(), rootRole });
    const roleOf = async ({ secret }: InviteLink): Promise<number | undefined> => {
      const email = `invited-${++made}@example.org`;
      return (await signUp(secret, { name: 'Invited', email, password })).body.rootRole;
    };
    const editors = await done<InviteLink>('POST', 'invite-link/tokens', createWith(2));
    expect(editors.role).toMatchObject({ id: 2, name: 'Editor' });
    expect(await roleOf(editors)).toBe(2);
    for (const rootRole of [1, 4, 999_999]) {
      const { status, body } = await send<ErrorBody>('POST', 'invite-link/tokens', createWith(rootRole));
      expect([status, body.details?.[0]?.path]).toEqual([400, '/body/rootRole']);
    }
    const role = { name: `role ${++made}`, description: '', type: 'root-custom', permissions: [] };
    const { id } = await done<{ readonly id: number }>('POST', 'roles', role);
    const guests = await done<InviteLink>('POST', 'invite-link/tokens', createWith(id));
    expect(guests.role.id).toBe(id);
    expect((await send('DELETE', `roles/${id}`)).status).toBe(200);
    expect((await done<InviteLink>('GET', `invite-link/tokens/${guests.secret}`)).role.id).toBe(3);
    expect(await roleOf(guests)).toBe(3);
    const roots = [await aUser(1), await aUser(1)] as const;
    const ofRoots = [
      await done<InviteLink>('POST', 'invite-link/tokens', createWith(2), roots[0].key),
      await done<InviteLink>('POST', 'invite-link/tokens', createWith(2), roots[1].key),
    ] as const;
    expect(await roleOf(ofRoots[0])).toBe(2);
    await done('PUT', `user-admin/${roots[0].id}`, { rootRole: 2 });
    expect((await send('DELETE', `user-admin/${roots[1].id}`)).status).toBe(200);
    for (const link of ofRoots) expect(await roleOf(link)).toBe(3);
  });

  it('gives groups and roles in projects, of what still exists and its creator may still give', async () => {
    const before = ++made;
    const group = async (rootRole: number | null) =>
      (await done<{ readonly id: number }>('POST', 'groups', { name: `guests ${++made}`, users: [], rootRole })).id;
    const [guests, editors, administrators] = [await group(null), await group(null), await group(1)];
    const linkWith = (more: object) => ({ name: `link ${++made}`, expiresAt: inAnHour(), ...more });
    const refused = async (more: object) => {
      const { status, body } = await send<ErrorBody>('POST', 'invite-link/tokens', linkWith(more));
      return [status, body.details?.[0]?.path];
    };
    expect(await refused({ groups: [guests, 999_999] })).toEqual([400, '/body/groups']);
    expect(await refused({ groups: [administrators] })).toEqual([400, '/body/groups']);
    expect(await refused({ projects: [{ id: 'default', role: 1 }] })).toEqual([400, '/body/projects']);
    expect((await refused({ projects: [{ id: 'nowhere', role: 5 }] }))[0]).toBe(404);
    expect((await refused({ projects: [{ id: "'; drop table invite_link; --", role: 5 }] }))[0]).toBe(404);
    expect((await refused({ groups: ['__proto__'] }))[0]).toBe(400);

    const root = await aUser(1);
    const given = {
      groups: [guests, editors, guests],
      projects: [
        { id: 'default', role: 5 },
        { id: 'default', role: 5 },
      ],
    };
    const link = await done<InviteLink>('POST', 'invite-link/tokens', linkWith(given), root.key);
    expect(link.groups.map(({ id }) => id).toSorted()).toEqual([guests, editors].toSorted());
    expect(link.projects).toEqual([{ id: 'default', role: { id: 5, name: 'Member' } }]);
    expect((await send('DELETE', `groups/${editors}`)).status).toBe(200);
    const join = async () => {
      const email = `guest-${before}-${++made}@example.org`;
      const { id } = (await signUp(link.secret, { name: 'Guest', email, password })).body;
      const { groups } = await done<{ groups: { id: number; users: { user: { id: number } }[] }[] }>('GET', 'groups');
      const { users } = await done<{ users: { id: number; roles: number[] }[] }>('GET', 'projects/default/access');
      return {
        id,
        groups: groups.filter(({ users: members }) => members.some(({ user }) => user.id === id)).map((one) => one.id),
        roles: users.find((user) => user.id === id)?.roles,
      };
    };
    let joined: Awaited<ReturnType<typeof join>> | undefined;
    const events = await emittedBy(async () => void (joined = await join()));
    expect(joined).toMatchObject({ groups: [guests], roles: [5] });
    expect(events.map(({ type }) => type)).toEqual([
      'user-created',
      'public-signup-token-user-added',
      'group-user-added',
      'project-access-added',
    ]);
    expect(events.at(-1)).toMatchObject({ project: 'default', data: { users: [joined?.id], groups: [], roles: [5] } });
    await done('PUT', `groups/${guests}`, { name: `guests ${++made}`, rootRole: 1 });
    expect(await join()).toMatchObject({ groups: [], roles: [5] });
    await done('PUT', `groups/${guests}`, { name: `guests ${++made}`, rootRole: null });
    await done('PUT', `user-admin/${root.id}`, { rootRole: 3 });
    expect(await join()).toMatchObject({ groups: [], roles: undefined });
  });

  it('gives no role in a project that has got the id of a deleted one', async () => {
    const body = { name: `link ${++made}`, expiresAt: inAnHour(), projects: [{ id: 'brief', role: 5 }] };
    const { secret } = await done<InviteLink>('POST', 'invite-link/tokens', body);
    const state = { id: 'brief', mode: 'open', createdBy: null };
    const messageOf = (version: number, after: object | null): OutboxMessage => ({
      position: version,
      uid: randomUUID(),
      type: 'project',
      recordedAt: new Date().toISOString(),
      traceparent: null,
      payload: { entity: 'project', id: 'brief', version, state: after, lastMode: 'open' },
    });
    for (const message of [messageOf(2, null), messageOf(3, state)])
      await gateway.database.transaction((tx) => applyProjectStates(tx, [message]));
    const { projects } = await done<InviteLink>('GET', `invite-link/tokens/${secret}`);
    expect(projects).toEqual([]);
    const answer = await signUp(secret, { name: 'Late', email: `late-${++made}@example.org`, password });
    expect(answer.status).toBe(201);
    expect((await done<{ users: object[] }>('GET', 'projects/brief/access')).users).toEqual([]);
  });

  it('lets people create accounts as viewers, while it is enabled and not expired', async () => {
    const { secret } = await create();
    expect(await validate(secret)).toBe(200);
    const email = `invited-${++made}@example.org`;
    const body = { name: 'Invited', email, password };
    let created: User | undefined;
    const events = await emittedBy(async () => {
      const answer = await signUp(secret, { ...body, username: null });
      expect(answer.status).toBe(201);
      created = answer.body;
    });
    expect(created).toMatchObject({ name: 'Invited', email, rootRole: 3 });
    expect(events.map(({ type }) => type)).toEqual(['user-created', 'public-signup-token-user-added']);
    await browser().signIn(email, password);
    const found = await done<InviteLink>('GET', `invite-link/tokens/${secret}`);
    expect(found.users.map((user) => user.email)).toEqual([email]);
    expect((await signUp(secret, body)).status).toBe(400);
    expect((await signUp(secret, { ...body, email: 'x@example.org', password: 'weak' })).body.name).toBe(
      'OwaspValidationError',
    );
    expect((await signUp(secret, { ...body, email: 'x@example.org', rootRole: 1 })).status).toBeLessThan(500);
    const { users } = await done<{ users: User[] }>('GET', 'user-admin');
    expect(users.filter(({ email: one }) => one === 'x@example.org').every(({ rootRole }) => rootRole === 3)).toBe(
      true,
    );
    await done('PUT', `invite-link/tokens/${secret}`, { enabled: false });
    expect(await validate(secret)).toBe(400);
    await done('PUT', `invite-link/tokens/${secret}`, { enabled: true, expiresAt: new Date(0).toISOString() });
    expect(await validate(secret)).toBe(400);
    expect((await signUp(secret, { ...body, email: 'late@example.org' })).status).toBe(400);
    expect(await validate('none')).toBe(400);
    expect(await validate('0'.repeat(96))).toBe(400);
  });
});
