import { call, implement, systemContext } from '@bunting/bus';
import {
  AddComment,
  type Caller,
  ChangeState,
  InviteSlackUser,
  refusal,
  type ReplyOf,
  type RequestOf,
  ReviewAsSlackUser,
  type SlackAccount,
} from '@bunting/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessApi } from '../../../test/access-api.ts';
import { aBrowser } from '../../../test/browser.ts';
import { startedGateway } from '../../../test/started-gateway.ts';

const gateway = startedGateway();
const { done, send, emittedBy } = accessApi(() => gateway);
const password = 'Correct-horse-7';
type Accounts = { readonly slackAccounts: readonly SlackAccount[] };

let made = 0;
/** A person who is signed in. */
const aPerson = async (rootRole = 3) => {
  const username = `slack-person-${++made}`;
  const email = `${username}@example.org`;
  const { id } = await done<{ id: number }>('POST', 'user-admin', { username, email, rootRole, password });
  const browser = aBrowser(() => gateway);
  await browser.signIn(username, password);
  return {
    id,
    username,
    email,
    send: <T>(method: string, path: string, body?: unknown) => browser.send<T>(method, `/api/admin/${path}`, body),
  };
};
const aSlackUser = (name = `slack-${++made}`) => ({
  teamId: 'T1',
  teamName: 'acme',
  slackUserId: `U${++made}`,
  slackUserName: name,
});
type SlackUser = ReturnType<typeof aSlackUser>;
const invite = (slackUser: SlackUser, email?: string): Promise<ReplyOf<typeof InviteSlackUser>> => {
  const body = { ...slackUser, ...(email === undefined ? {} : { email }) };
  return call(gateway.bus, InviteSlackUser, { body }, systemContext(10_000));
};
const tokenFor = async (slackUser: SlackUser, { email }: { readonly email: string }): Promise<string> =>
  (await invite(slackUser, email.toUpperCase())).token ?? '';
const link = async (person: Awaited<ReturnType<typeof aPerson>>, slackUser = aSlackUser()) => {
  const { status, body } = await person.send<SlackAccount>('POST', 'user/slack-accounts', {
    token: await tokenFor(slackUser, person),
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return { slackUser, account: body };
};

describe('a link from Slack', () => {
  it('says which Slack account it is for, and links it to the signed-in person once', async () => {
    const person = await aPerson();
    const slackUser = aSlackUser('rita');
    const body = { token: await tokenFor(slackUser, person) };
    expect(await person.send('POST', 'user/slack-accounts/check', body)).toMatchObject({
      status: 200,
      body: slackUser,
    });
    expect((await invite(slackUser)).by).toBeNull();
    const newest = { token: await tokenFor(slackUser, person) };
    expect(await person.send('POST', 'user/slack-accounts', body)).toMatchObject({ status: 401 });
    const events = await emittedBy(() => person.send('POST', 'user/slack-accounts', newest));
    expect(events).toMatchObject([
      {
        type: 'slack-account-linked',
        createdBy: person.email,
        data: { ...slackUser, userId: person.id },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain(newest.token);
    expect(await invite(slackUser)).toEqual({ by: { id: person.id, name: person.username }, token: null });
    const used = await person.send('POST', 'user/slack-accounts', newest);
    expect(used).toMatchObject({ status: 401, body: { name: 'InvalidTokenError' } });
    expect((await person.send<Accounts>('GET', 'user/slack-accounts')).body.slackAccounts).toMatchObject([slackUser]);
  });

  it('is refused after ten minutes, and with an API key instead of a session', async () => {
    const person = await aPerson();
    const token = await tokenFor(aSlackUser(), person);
    const key = `user:${String(++made).padStart(64, '0')}`;
    await gateway.givenToken({ token: key, userId: person.id });
    expect(await send('POST', 'user/slack-accounts', { token }, key)).toMatchObject({
      status: 403,
      body: { name: 'ForbiddenError' },
    });
    await gateway.database.transaction(({ query }) =>
      query("update slack_link set expires_at = expires_at - interval '10 minutes'"),
    );
    const late = await person.send('POST', 'user/slack-accounts', { token });
    expect(late).toMatchObject({ status: 401, body: { name: 'InvalidTokenError' } });
  });

  it('does nothing for a person with another e-mail address, to whom somebody has sent it', async () => {
    const [attacker, victim] = [await aPerson(), await aPerson()];
    const slackUser = aSlackUser();
    const token = await tokenFor(slackUser, attacker);
    expect(await victim.send('POST', 'user/slack-accounts', { token })).toMatchObject({
      status: 403,
      body: { name: 'ForbiddenError' },
    });
    expect((await invite(slackUser)).by).toBeNull();
    expect((await attacker.send('POST', 'user/slack-accounts', { token })).status).toBe(201);
  });

  it('does not take a Slack account away from another person', async () => {
    const [first, second] = [await aPerson(), await aPerson()];
    const slackUser = aSlackUser();
    const token = await tokenFor(slackUser, second);
    await gateway.database.transaction(({ query }) =>
      query(
        `insert into slack_account (team_id, team_name, slack_user_id, slack_user_name, user_id) values ($1, $2, $3, $4, $5)`,
        [...Object.values(slackUser), first.id],
      ),
    );
    expect(await second.send('POST', 'user/slack-accounts', { token })).toMatchObject({
      status: 409,
      body: { name: 'ConflictError' },
    });
    expect((await invite(slackUser)).by?.id).toBe(first.id);
  });

  it('ends with the person, also when the person comes back, and when an administrator or its owner unlinks it', async () => {
    const [owner, other, disabled, deleted] = [await aPerson(), await aPerson(), await aPerson(), await aPerson()];
    const links = await Promise.all([link(owner), link(other), link(disabled), link(deleted)]);
    const [own, others] = links.map(({ account }) => account.id) as [number, number];
    expect((await other.send('DELETE', `user/slack-accounts/${own}`)).status).toBe(404);
    expect((await other.send('GET', `user-admin/${owner.id}/slack-accounts`)).status).toBe(403);
    const seen = await done<Accounts>('GET', `user-admin/${other.id}/slack-accounts`);
    expect(seen.slackAccounts.map(({ id }) => id)).toEqual([others]);
    expect((await owner.send('DELETE', `user/slack-accounts/${own}`)).status).toBe(200);
    await done('DELETE', `user-admin/${other.id}/slack-accounts/${others}`);
    await done('PUT', `user-admin/${disabled.id}`, { active: false });
    await done('PUT', `user-admin/${disabled.id}`, { active: true });
    await done('DELETE', `user-admin/${deleted.id}`);
    for (const { slackUser } of links) expect((await invite(slackUser)).by).toBeNull();
  });
});

describe('a review from Slack', () => {
  interface Received {
    readonly operation: string;
    readonly caller: Caller;
    readonly body: object;
    readonly key: string | undefined;
  }
  const received: Received[] = [];
  let refuses: Error | undefined;
  const record = (
    operation: string,
    request: Pick<Received, 'caller' | 'body'> & { idempotency?: { key: string } },
  ) => {
    if (refuses !== undefined) throw refuses;
    received.push({ operation, caller: request.caller, body: request.body, key: request.idempotency?.key });
  };
  beforeAll(() =>
    gateway.behind([
      implement(ChangeState, async (request) => {
        record('change-state', request as never);
        return { id: request.params.id, state: request.body.state };
      }),
      implement(AddComment, async (request) => {
        record('add-comment', request as never);
        return null;
      }),
    ]),
  );
  type Review = RequestOf<typeof ReviewAsSlackUser>['body'];
  const review = ({ teamId, slackUserId }: SlackUser, more: Partial<Review> = {}) =>
    call(
      gateway.bus,
      ReviewAsSlackUser,
      {
        body: { teamId, slackUserId, key: 'one', project: 'shop', changeRequestId: 7, review: 'approve', ...more },
      },
      systemContext(10_000),
    );

  it('is a request of the linked person with the rights of now, who is known to have acted in Slack', async () => {
    const person = await aPerson();
    const { slackUser } = await link(person);
    const by = { id: person.id, name: person.username };
    received.length = 0;
    expect(await review(slackUser, { revision: 3, basis: 'b' })).toEqual({ by, refusal: null });
    expect(await review(slackUser, { review: 'reject', comment: 'Not now.' })).toEqual({ by, refusal: null });
    expect(await review(slackUser, { review: 'comment', comment: 'Why?' })).toEqual({ by, refusal: null });
    expect(received).toMatchObject([
      { operation: 'change-state', body: { state: 'Approved', revision: 3, basis: 'b' }, key: 'one' },
      { operation: 'change-state', body: { state: 'Rejected', comment: 'Not now.' } },
      { operation: 'add-comment', body: { text: 'Why?' } },
    ]);
    for (const { caller } of received) expect(caller).toMatchObject({ id: person.id, via: 'slack' });
    const isAdministrator = () =>
      received.at(-1)?.caller.grants.some(({ permission }) => permission === 'ADMIN') === true;
    expect(isAdministrator()).toBe(false);
    await done('PUT', `user-admin/${person.id}`, { rootRole: 1 });
    await review(slackUser);
    expect(isAdministrator()).toBe(true);
  });

  it('is given by nobody for an account that is not linked, or linked in another workspace', async () => {
    const { slackUser } = await link(await aPerson());
    received.length = 0;
    expect(await review(aSlackUser())).toEqual({ by: null, refusal: null });
    expect(await review({ ...slackUser, teamId: 'T2' })).toEqual({ by: null, refusal: null });
    expect(received).toEqual([]);
  });

  it('says why it was refused, and is to be tried again while a service is away', async () => {
    const person = await aPerson();
    const { slackUser } = await link(person);
    refuses = refusal('NoAccessError', 'You may not approve your own change request.');
    expect(await review(slackUser)).toMatchObject({ refusal: 'You may not approve your own change request.' });
    refuses = refusal('ServiceUnavailable', 'Away.');
    await expect(review(slackUser)).rejects.toThrow('Away.');
    refuses = undefined;
    expect((await review(slackUser, { review: 'comment', comment: ' ' })).refusal).toContain('/body/text');
  });
});
