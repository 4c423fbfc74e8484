import type { CreatedPat, Pats, ServiceAccounts, User } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessApi } from '../../../test/access-api.ts';
import { adminToken, type StartedGateway, startGateway } from '../../../test/started-gateway.ts';

let gateway: StartedGateway;
const { send, done, aUser, aPat, emittedBy } = accessApi(() => gateway);

beforeAll(async () => (gateway = await startGateway()));
afterAll(() => gateway.stop());

const works = async (key: string): Promise<boolean> => (await send('GET', 'user', undefined, key)).status === 200;

describe('a personal access token', () => {
  it('acts as its user; its secret is returned once and stored nowhere', async () => {
    const { id, key, name } = await aUser();
    let pat: CreatedPat | undefined;
    const events = await emittedBy(async () => (pat = await aPat(key, 'my laptop')));
    expect(pat).toMatchObject({ description: 'my laptop', userId: id, expiresAt: null, seenAt: null });
    const { secret, ...shown } = pat as CreatedPat;
    expect(secret).toMatch(/^user:[0-9a-f]{76}$/);
    expect(await done('GET', 'user', undefined, `Bearer ${secret}`)).toMatchObject({ user: { id } });
    const { pats } = await done<Pats>('GET', 'user/tokens', undefined, key);
    expect(pats).toContainEqual(shown);
    expect(events).toMatchObject([
      { type: 'pat-created', createdBy: name, createdByUserId: id, data: { id: shown.id, description: 'my laptop' } },
    ]);
    const stored = await gateway.database.read({ text: 'select row_to_json(t)::text from api_token t' });
    for (const text of [JSON.stringify(stored), JSON.stringify(await gateway.emittedEvents()), gateway.logged()])
      expect(text).not.toContain(secret.slice(17));
  });

  it('stops working when its owner, and no other user, deletes it', async () => {
    const [one, other] = [await aUser(), await aUser()];
    const pat = await aPat(one.key);
    expect((await send('DELETE', `user/tokens/${pat.id}`, undefined, other.key)).status).toBe(404);
    expect(await works(pat.secret)).toBe(true);
    const events = await emittedBy(() => done('DELETE', `user/tokens/${pat.id}`, undefined, one.key));
    expect(await works(pat.secret)).toBe(false);
    expect((await send('DELETE', `user/tokens/${pat.id}`, undefined, one.key)).status).toBe(404);
    expect(events).toMatchObject([{ type: 'pat-deleted', preData: { id: pat.id, userId: one.id } }]);
  });

  it('that expires cannot create a PAT of its user that expires later', async () => {
    const { key } = await aUser();
    const [soon, later] = [new Date(Date.now() + 3_600_000), new Date(Date.now() + 7_200_000)];
    const { secret } = await done<CreatedPat>('POST', 'user/tokens', { description: 'hour', expiresAt: soon }, key);
    for (const expiresAt of [null, later]) {
      const { status, body } = await send('POST', 'user/tokens', { description: 'longer', expiresAt }, secret);
      expect({ status, name: body.name }).toEqual({ status: 403, name: 'OperationDeniedError' });
      expect(body.message).toContain(soon.toISOString());
    }
    await done('POST', 'user/tokens', { description: 'as long', expiresAt: soon }, secret);
    await done('POST', 'user/tokens', { description: 'longer', expiresAt: later }, key);
  });

  it('of an administrator that expires can create PATs of other users with any expiry', async () => {
    const [{ key }, other] = [await aUser(1), await aUser()];
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { secret } = await done<CreatedPat>('POST', 'user/tokens', { description: 'hour', expiresAt }, key);
    const pat = await done<CreatedPat>('POST', `user-admin/${other.id}/token`, { description: 'key' }, secret);
    expect(pat.expiresAt).toBe(null);
  });

  it('is rejected with a duplicate description, a past expiry date, or as the eleventh', async () => {
    const { key } = await aUser();
    const refused = async (body: object, by = key) => {
      const { status, body: error } = await send('POST', 'user/tokens', body, by);
      return `${status} ${error.name} ${error.message}`;
    };
    await aPat(key, 'taken');
    expect(await refused({ description: ' taken ' })).toBe('409 NameExistsError PAT description already exists.');
    expect(await refused({ description: ' ' })).toMatch(/^400 ValidationError .*\/body\/description/);
    expect(await refused({ description: 'late', expiresAt: '2020-01-01T00:00:00Z' })).toMatch(
      /^400 ValidationError The expiry date should be in future/,
    );
    for (let nth = 3; nth <= 10; nth++) await aPat(key);
    expect(await refused({ description: 'eleventh' })).toBe(
      '403 OperationDeniedError Too many PATs (10) already exist for this user.',
    );
    expect(await refused({ description: 'a token' }, adminToken)).toBe(
      '403 ForbiddenError PATs require an authenticated user.',
    );
  });

  it('is not created as the eleventh by concurrent requests', async () => {
    const { key } = await aUser();
    const made = await Promise.all(
      Array.from({ length: 14 }, (_, nth) => send('POST', 'user/tokens', { description: `concurrent ${nth}` }, key)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
    expect((await done<Pats>('GET', 'user/tokens', undefined, key)).pats).toHaveLength(10);
  });
});

describe('the first PAT of a user', () => {
  it('is created by an administrator, who can also delete a lost one', async () => {
    const { id } = await done<User>('POST', 'user-admin', { username: 'without-key', rootRole: 3 });
    const at = `user-admin/${id}/token`;
    let first: CreatedPat | undefined;
    const events = await emittedBy(async () => (first = await done<CreatedPat>('POST', at, { description: 'first' })));
    const { secret, ...shown } = first as CreatedPat;
    expect(await done('GET', 'user', undefined, secret)).toMatchObject({ user: { id, isAPI: false } });
    expect(events).toMatchObject([
      { type: 'pat-created', createdBy: 'admin', data: { id: shown.id, userId: id, description: 'first' } },
    ]);
    const own = await aPat(secret);
    expect((await done<Pats>('GET', at)).pats.map((pat) => pat.id)).toEqual([shown.id, own.id]);
    expect(JSON.stringify(await done('GET', at))).not.toContain(secret.slice(17));

    expect(await emittedBy(() => done('DELETE', `${at}/${own.id}`))).toMatchObject([
      { type: 'pat-deleted', createdBy: 'admin', preData: { id: own.id, userId: id } },
    ]);
    expect([await works(secret), await works(own.secret)]).toEqual([true, false]);
    expect((await send('DELETE', `${at}/${own.id}`)).status).toBe(404);
    expect((await send('POST', at, { description: 'mine' }, secret)).status).toBe(403);
  });

  it('is not created for service accounts or unknown users', async () => {
    const robot = await done<User>('POST', 'service-account', { username: 'no-person', rootRole: 3 });
    for (const id of [robot.id, 987_654]) {
      expect((await send('GET', `user-admin/${id}/token`)).status).toBe(404);
      expect((await send('POST', `user-admin/${id}/token`, { description: 'x' })).status).toBe(404);
      expect((await send('DELETE', `user-admin/${id}/token/1`)).status).toBe(404);
    }
  });
});

describe('a service account', () => {
  const anAccount = (username: string, rootRole = 2): Promise<User> =>
    done<User>('POST', 'service-account', { username, name: 'Robot', rootRole });

  it('has tokens that an administrator creates, and acts with its role', async () => {
    const account = await anAccount('deployer');
    expect(account).toMatchObject({ username: 'deployer', name: 'Robot', accountType: 'Service Account', rootRole: 2 });
    const at = `service-account/${account.id}`;
    const { secret, ...shown } = await done<CreatedPat>('POST', `${at}/token`, { description: 'ci' });
    expect(await done('GET', 'user', undefined, secret)).toMatchObject({ user: { id: account.id } });
    expect((await done<Pats>('GET', `${at}/token`)).pats).toMatchObject([{ id: shown.id, description: 'ci' }]);
    const { serviceAccounts } = await done<ServiceAccounts>('GET', 'service-account');
    const listed = serviceAccounts.filter(({ id }) => id === account.id);
    expect(listed).toMatchObject([{ id: account.id, tokens: [{ id: shown.id }] }]);
    await done('DELETE', `${at}/token/${shown.id}`);
    expect(await works(secret)).toBe(false);
  });

  it('is not found as a user, and users are not found as service accounts', async () => {
    const account = await anAccount('no-user');
    const { id } = await aUser();
    expect((await send('GET', `user-admin/${account.id}`)).status).toBe(404);
    expect((await send('DELETE', `user-admin/${account.id}`)).status).toBe(404);
    expect((await send('DELETE', `service-account/${id}`)).status).toBe(404);
    expect((await send('POST', `service-account/${id}/token`, { description: 'x' })).status).toBe(404);
  });

  it('emits the events of service accounts', async () => {
    const events = await emittedBy(async () => {
      const { id } = await anAccount('short-lived', 3);
      await done('PUT', `service-account/${id}`, { rootRole: 2 });
      const { secret } = await done<CreatedPat>('POST', `service-account/${id}/token`, { description: 'x' });
      await done('DELETE', `service-account/${id}`);
      expect(await works(secret)).toBe(false);
    });
    expect(events.map(({ type }) => type)).toEqual([
      'service-account-created',
      'service-account-updated',
      'pat-created',
      'service-account-deleted',
    ]);
  });
});
