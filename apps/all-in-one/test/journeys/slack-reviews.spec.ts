import type { Addon, ChangeRequest, FoundEvents, SlackAccount } from '@bunting/contracts';
import { eventually, type SlackDouble, type SlackMessage, startSlack } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type Api, platformClient, rootRole } from '../support/clients.ts';
import { migratedDatabases } from '../support/databases.ts';
import { type OneProcess, startOneProcess } from '../support/platform.ts';

const password = 'Correct-horse-7';
const project = 'slack';
const environment = 'development';

describe('change requests in Slack', () => {
  let slack: SlackDouble;
  let platform: OneProcess;
  let interactions: string;
  const { expectSuccess, createUser } = adminClient(() => platform);
  const [mia, rita] = [
    { id: 'U0MIA', name: 'mia' },
    { id: 'U0RITA', name: 'rita' },
  ];
  let author: Api;

  beforeAll(async () => {
    slack = await startSlack();
    const settings = {
      INTEGRATIONS_SLACK_URL: slack.url,
      INTEGRATIONS_PUBLIC_URL: 'https://flags.example.org',
      INTEGRATIONS_RETRY_SECONDS: Array.from({ length: 20 }, () => 1).join(','),
      // A killed process holds the delivery no longer than this.
      INTEGRATIONS_TIMEOUT_MS: '5000',
      INTEGRATIONS_LEASE_MS: '10000',
      CHANGE_REQUESTS_ADMINS_REVIEW_OWN: 'false',
    };
    platform = await startOneProcess(settings, await migratedDatabases());
    const client = platformClient(platform.api);
    await client.createProject(project);
    for (const name of ['checkout', 'banner']) await client.createFeature(project, name);
    await expectSuccess('PUT', `projects/${project}/environments/${environment}/change-requests/config`, {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    ({ api: author } = await createUser('mia', rootRole.admin));
    await createUser('rita', rootRole.admin);
    const addon = await expectSuccess<Addon>('POST', 'addons', {
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
      events: ['change-request-sent-to-review'],
    });
    interactions = `${platform.url}/api/integrations/slack/${addon.id}/interactions`;
    slack.setRequestUrl(interactions);
  });
  afterAll(async () => {
    await platform.stop();
    await slack.stop();
  });

  /** A change request of mia in review, and the message about it. */
  const propose = async (feature: string): Promise<{ id: number; message: SlackMessage }> => {
    const path = `/api/admin/projects/${project}`;
    const change = { action: 'updateEnabled', feature, payload: { enabled: true } };
    const { body } = await author<ChangeRequest>(
      'POST',
      `${path}/environments/${environment}/change-requests?new=true`,
      change,
    );
    const sent = await author('PUT', `${path}/change-requests/${body.id}/state`, { state: 'In review' });
    expect({ status: sent.status, text: sent.text }).toMatchObject({ status: 200 });
    const message = await eventually(() => {
      const found = slack.messages.find(({ text }) => text.includes(`#${body.id} `));
      if (found === undefined) throw new Error('Slack has no message yet.');
      return found;
    });
    return { id: body.id, message };
  };
  const request = (id: number) => expectSuccess<ChangeRequest>('GET', `projects/${project}/change-requests/${id}`);
  const answered = (pattern: RegExp) =>
    eventually(() => {
      const found = slack.answers.map((answer) => pattern.exec(answer)).find((match) => match !== null);
      if (found === undefined) throw new Error(`Slack has shown ${JSON.stringify(slack.answers)}.`);
      return found;
    });
  /** Opens the link that Slack has shown last, as somebody who is signed in to the console. */
  const link = async (username: string): Promise<SlackAccount> => {
    const user = (await expectSuccess<{ users: { id: number; username: string }[] }>('GET', 'user-admin')).users.find(
      (one) => one.username === username,
    );
    await expectSuccess('POST', `user-admin/${user?.id ?? 0}/change-password`, { password });
    await expectSuccess('PUT', `user-admin/${user?.id ?? 0}`, { email: `${username}@example.org` });
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const login = { method: 'POST', headers, body: JSON.stringify({ username, password }) };
    const cookie = (await fetch(`${platform.url}/auth/simple/login`, login)).headers.get('set-cookie') ?? '';
    const [, token = ''] = await answered(/link-slack\?token=(\S+)/);
    const response = await fetch(`${platform.url}/api/admin/user/slack-accounts`, {
      method: 'POST',
      headers: { ...headers, cookie: cookie.split(';')[0] ?? '' },
      body: JSON.stringify({ token: decodeURIComponent(token) }),
    });
    expect(response.status).toBe(201);
    slack.answers.length = 0;
    return (await response.json()) as SlackAccount;
  };

  it('are approved by a button as the person who has linked the Slack account, and not by their author', async () => {
    const { id, message } = await propose('checkout');
    expect(JSON.stringify(message.blocks)).toContain('*checkout*: Turn on in development');
    expect(await slack.press(message, 'approve', rita)).toBe(200);
    await answered(/Link your Slack account/);
    expect((await request(id)).state).toBe('In review');
    expect(await link('rita')).toMatchObject({ slackUserId: rita.id, slackUserName: 'rita', teamId: slack.teamId });

    expect(await slack.press(message, 'approve', mia)).toBe(200);
    await link('mia');
    expect(await slack.press(message, 'approve', mia)).toBe(200);
    await answered(/Not done: .* own/i);
    expect(await request(id)).toMatchObject({ state: 'In review', approvals: [] });

    expect(await slack.press(message, 'approve', rita)).toBe(200);
    await answered(/You approved #\d+ as rita\./);
    expect(await request(id)).toMatchObject({ state: 'Approved', approvals: [{ createdBy: { username: 'rita' } }] });
    await eventually(() => expect(slack.buttonsOf(message)).toEqual(['open']));
    const { events } = await expectSuccess<FoundEvents>('GET', 'search/events?type=IS:change-request-approved&limit=1');
    expect(events[0]).toMatchObject({ createdBy: 'rita@example.org', data: { changeRequestId: id, via: 'slack' } });
    expect(events[0]?.summary).toContain('in Slack');
  });

  it('get comments by a form, and are rejected', async () => {
    const { id, message } = await propose('banner');
    slack.answers.length = 0;
    const opened = slack.views.length;
    expect(await slack.press(message, 'comment', rita)).toBe(200);
    await eventually(() => expect(slack.views.length).toBeGreaterThan(opened));
    expect(await slack.submit('Is it tested?', rita)).toBe(200);
    await answered(/You commented on/);
    expect(await slack.press(message, 'reject', rita)).toBe(200);
    await answered(/You rejected/);
    expect(await request(id)).toMatchObject({
      state: 'Rejected',
      comments: [{ text: 'Is it tested?', createdBy: { username: 'rita' } }],
    });
  });

  it('are left alone by requests that are forged, late, repeated, or of another workspace', async () => {
    const { id, message } = await propose('checkout');
    for (const faults of [{ secret: 'f'.repeat(32) }, { skew: -400 }, { teamId: 'T0OTHER' }])
      expect(await slack.press(message, 'approve', rita, faults)).toBe(401);
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(interactions, json)).status).toBe(415);
    expect((await request(id)).state).toBe('In review');
    const sent = slack.pressOf(message, 'reject', rita);
    expect((await fetch(interactions, sent)).status).toBe(200);
    await eventually(async () => expect((await request(id)).state).toBe('Rejected'));
    expect((await fetch(interactions, sent)).status).toBe(401);
  });

  it('show their end also where the platform is killed between the review and the update of the message', async () => {
    const { id, message } = await propose('checkout');
    slack.refuse('chat.update', 'fatal_error', 1_000);
    expect(await slack.press(message, 'approve', rita)).toBe(200);
    await eventually(async () => expect((await request(id)).state).toBe('Approved'));
    await platform.kill();
    slack.refuse('chat.update', '', 0);
    await platform.restart();
    await eventually(() => expect(slack.buttonsOf(message)).toEqual(['open']));
    expect(await request(id)).toMatchObject({ approvals: [{ createdBy: { username: 'rita' } }] });
  });

  it('are nothing to a Slack account once an administrator has unlinked it', async () => {
    const { users } = await expectSuccess<{ users: { id: number; username: string }[] }>('GET', 'user-admin');
    const path = `user-admin/${users.find(({ username }) => username === 'rita')?.id ?? 0}/slack-accounts`;
    const { slackAccounts } = await expectSuccess<{ slackAccounts: SlackAccount[] }>('GET', path);
    for (const account of slackAccounts) await expectSuccess('DELETE', `${path}/${account.id}`);
    const { id, message } = await propose('banner');
    slack.answers.length = 0;
    expect(await slack.press(message, 'approve', rita)).toBe(200);
    await answered(/Link your Slack account/);
    expect((await request(id)).state).toBe('In review');
  });
});
