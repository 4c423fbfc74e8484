import { implement, serve } from '@bunting/bus';
import {
  type Addon,
  type Caller,
  DescribeChangeRequest,
  type Event,
  DeleteAddon,
  InviteSlackUser,
  notFound,
  ReceiveSlackInteraction,
  RedeliverEvent,
  type ReplyOf,
  type RequestOf,
  ReviewAsSlackUser,
  UpdateAddon,
} from '@bunting/contracts';
import { eventually, type SlackDouble, startSlack } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { secretKey, type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';
import { integrationReader } from '../addons/addon-store.ts';
import { allowedAddresses } from '../sending/addresses.ts';
import { httpClient } from '../sending/http-client.ts';
import { isSigned } from '../sending/slack-signature.ts';
import { secretCipher } from '../unit-of-work/secrets.ts';
import { reviewMessages } from './background.ts';
import { interactionIn } from './interaction.ts';
import { slackApi, withSlackAt } from './slack-api.ts';
import { slackStore } from './slack-store.ts';

type Description = ReplyOf<typeof DescribeChangeRequest>;
type Review = RequestOf<typeof ReviewAsSlackUser>['body'];

let service: StartedIntegrations;
let slack: SlackDouble;
let addon: Addon;
const rita = { id: 'U0RITA', name: 'rita' };

/** What change requests and the gateway know, in memory. */
const descriptions = new Map<number, Description>();
const linked = new Map<string, { id: number; name: string }>();
const reviews: Review[] = [];
const unreadable = new Set<number>();
let refuses: string | null = null;
let onReview: (review: Review) => unknown = () => undefined;
let unknowable = false;

function describeRequest(id: number, more: Partial<Description> = {}): Description {
  const description: Description = {
    uid: `uid-${id}`,
    title: 'Summer sale <!channel>',
    project: 'shop',
    environment: 'production',
    state: 'In review',
    author: 'mia',
    revision: 3,
    basis: 'basis-1',
    approvals: 0,
    minApprovals: 1,
    scheduledAt: null,
    changes: [{ subject: 'banner', sentence: 'Turn on in production' }],
    changeCount: 1,
    isComplete: true,
    ...more,
  };
  descriptions.set(id, description);
  return description;
}

let requests = 0;
const happened = (type: Event['type'], id: number, more: Partial<Event> = {}) =>
  service.log.append({
    type,
    featureName: null,
    data: { changeRequestId: id },
    summary: `**mia** did ${type}`,
    ...more,
  } as Partial<Event>);
/** A change request in review, and the message about it. */
const posted = async (more: Partial<Description> = {}) => {
  const id = ++requests;
  describeRequest(id, more);
  happened('change-request-sent-to-review', id);
  const message = await eventually(() => {
    const found = slack.messages.find(({ text }) => text.includes(`#${id} `));
    if (found === undefined) throw new Error('No message yet.');
    return found;
  });
  return { id, message };
};
const receive = (sent: ReturnType<SlackDouble['pressOf']>, addonId = addon.id) =>
  service.call(ReceiveSlackInteraction, {
    params: { addonId },
    query: { signature: sent.headers['x-slack-signature'], timestamp: sent.headers['x-slack-request-timestamp'] },
    body: sent.body,
  });
const answered = (text: string) =>
  eventually(() => {
    expect(slack.answers.join('\n')).toContain(text);
  });

beforeAll(async () => {
  slack = await startSlack();
  service = await startIntegrations({
    INTEGRATIONS_SLACK_URL: slack.url,
    INTEGRATIONS_PUBLIC_URL: 'https://flags.example.org',
  });
  await serve(
    service.bus,
    [
      implement(DescribeChangeRequest, async ({ body: { id } }) => {
        if (unreadable.has(id)) throw new Error('A defect.');
        const found = descriptions.get(id);
        if (found === undefined) throw notFound('Change request not found');
        return found;
      }),
      implement(InviteSlackUser, async ({ body }) => {
        if (unknowable) throw new Error('A defect.');
        const by = linked.get(body.slackUserId) ?? null;
        return { by, token: by === null && body.email !== undefined ? `token-for-${body.email}` : null };
      }),
      implement(ReviewAsSlackUser, async ({ body }) => {
        const by = linked.get(body.slackUserId) ?? null;
        if (by !== null) reviews.push(body);
        await onReview(body);
        return { by, refusal: by === null ? null : refuses };
      }),
    ],
    { checkReplies: true },
  );
  addon = await service.create({
    provider: 'slack-app',
    enabled: true,
    parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
    events: ['change-request-sent-to-review'],
  });
});
afterAll(async () => {
  await service.stop();
  await slack.stop();
});
beforeEach(() => {
  linked.clear();
  linked.set(rita.id, { id: 7, name: 'Rita' });
  reviews.length = 0;
  slack.answers.length = 0;
  refuses = null;
  onReview = () => undefined;
});

describe('a message about a change request in review', () => {
  it('says who wants to change what where, names nobody, and has buttons until the review is over', async () => {
    const { id, message } = await posted();
    const text = JSON.stringify(message.blocks);
    for (const part of ['*mia*', '*production*', '*shop*', '*banner*: Turn on in production', '0 of 1 approval'])
      expect(text).toContain(part);
    expect(text).toContain('&lt;!channel&gt;');
    expect(text).not.toContain('<!channel>');
    expect(text).toContain(`https://flags.example.org/projects/shop/change-requests/${id}`);
    expect(slack.buttonsOf(message)).toEqual(['approve', 'reject', 'comment', 'open']);

    describeRequest(id, { state: 'Approved', approvals: 1, basis: null });
    // Not among the events that were chosen.
    happened('change-request-approved', id, { summary: '**rita** approved change request **#1** in Slack' });
    await eventually(() => expect(slack.buttonsOf(message)).toEqual(['open']));
    expect(JSON.stringify(message.blocks)).toContain('rita approved change request');
    expect(slack.messages.filter(({ text: other }) => other.includes(`#${id} `))).toHaveLength(1);
  });

  it('loses what it shows once the integration is not for its project any more', async () => {
    const own = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'own', signingSecret: slack.signingSecret },
      events: ['change-request-sent-to-review'],
      projects: ['shop'],
    });
    const { id } = await posted();
    const message = await eventually(() => {
      const found = slack.messages.find(({ channel, text }) => channel.startsWith('COWN') && text.includes(`#${id} `));
      if (found === undefined) throw new Error('No message yet.');
      return found;
    });
    const press = slack.pressOf(message, 'reject', rita);
    await service.call(UpdateAddon, {
      params: { id: own.id },
      body: { ...own, projects: ['another'] } as never,
    });
    refuses = 'It has changed.';
    await receive(press, own.id);
    await answered('It has changed.');
    expect(slack.buttonsOf(message)).toEqual([]);
    expect(JSON.stringify(message.blocks)).not.toContain('banner');
    await service.call(DeleteAddon, { params: { id: own.id } });
  });

  it('counts for nothing where there is none about the request', async () => {
    happened('change-request-approved', 99_999);
    const { id } = await posted();
    const attempted = await eventually(async () => {
      const ids = (await service.attempts(addon.id)).map(
        ({ event }) => (event['data'] as { changeRequestId: number }).changeRequestId,
      );
      expect(ids).toContain(id);
      return ids;
    });
    // It was before that one in the log.
    expect(attempted).not.toContain(99_999);
  });

  it('keeps the limits of Slack with the largest change requests', async () => {
    const long = 'x'.repeat(5_000);
    const change = { subject: long, sentence: long, before: long, after: long, warning: long };
    const { message } = await posted({
      title: `<&>${long}`,
      changes: Array.from({ length: 10 }, () => change),
      changeCount: 500,
    });
    expect(JSON.stringify(message.blocks)).toContain('and 490 more changes');
    const ampersands = { subject: '&'.repeat(400), sentence: '&'.repeat(400), before: '&'.repeat(400) };
    await posted({ changes: [{ ...ampersands, after: '&'.repeat(400), warning: '&'.repeat(400) }] });
  });

  it('cannot be approved unless it shows everything that is approved', async () => {
    const change = { subject: 'banner', sentence: 'Turn on in production' };
    for (const hidden of [
      { isComplete: false },
      { changeCount: 2 },
      { changes: [{ ...change, after: 'x'.repeat(600) }] },
      { changes: [{ ...change, after: 'where country is \u202eon' }] },
    ]) {
      const { message } = await posted(hidden);
      expect(slack.buttonsOf(message)).toEqual(['reject', 'comment', 'open']);
      expect(JSON.stringify(message.blocks)).toContain('Review it in Bunting');
      expect(JSON.stringify(message.blocks)).not.toContain('\u202e');
    }
  });

  it('mentions nobody in its notification either', async () => {
    const { message } = await posted();
    expect(message.text).toContain('&lt;!channel&gt;');
  });

  it('cannot be approved while its changes are in conflict', async () => {
    const warning = 'The flag is archived';
    const changes = [{ subject: 'banner', sentence: 'Turn on in production', warning }];
    const { message } = await posted({ basis: null, changes });
    expect(JSON.stringify(message.blocks)).toContain(warning);
    expect(slack.buttonsOf(message)).toEqual(['reject', 'comment', 'open']);
  });

  it('is posted once, also where an attempt is repeated, and updated once the limit of Slack permits it', async () => {
    slack.refuse('chat.update', 'ratelimited', 1);
    const { id, message } = await posted();
    describeRequest(id, { state: 'Rejected' });
    happened('change-request-rejected', id);
    await eventually(async () => {
      await service.passTime();
      expect(slack.buttonsOf(message)).toEqual(['open']);
    });
    expect(slack.messages.filter(({ text }) => text.includes(`#${id} `))).toHaveLength(1);
  });

  it('is posted while Slack is slow with the message about another request', async () => {
    const ids = [++requests, ++requests];
    for (const id of ids) describeRequest(id);
    const shown = () => ids.filter((id) => slack.messages.some(({ text }) => text.includes(`#${id} `)));
    const { release } = slack.hold('chat.postMessage');
    const told = (id: number) => ({
      type: 'change-request-sent-to-review' as const,
      featureName: `flag-${id}`,
      data: { changeRequestId: id },
    });
    service.log.append(...ids.map(told));
    await eventually(() => expect(shown()).toHaveLength(1));
    release();
    await eventually(() => expect(shown()).toHaveLength(2));
  });

  it('is updated in every channel, also where Slack has refused one of the updates for a while', async () => {
    const both = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'east, west', signingSecret: slack.signingSecret },
      events: ['change-request-sent-to-review'],
    });
    const { id } = await posted();
    const own = () =>
      slack.messages.filter(({ channel, text }) => /^C(?:EAST|WEST)/.test(channel) && text.includes(`#${id} `));
    await eventually(() => expect(own()).toHaveLength(2));
    describeRequest(id, { state: 'Rejected' });
    slack.refuse('chat.update', 'ratelimited', 1, own()[1]?.channel);
    happened('change-request-rejected', id);
    await eventually(async () => {
      await service.passTime();
      expect(own().map((message) => slack.buttonsOf(message))).toEqual([['open'], ['open']]);
    });
    await service.call(DeleteAddon, { params: { id: both.id } });
  });

  it('shows the newest state, however late another process writes an older one', async () => {
    const { id, message } = await posted();
    // Once the service is done with the message, the next update that Slack gets is that of the other process.
    await eventually(async () => {
      const [newest] = await service.attempts(addon.id);
      expect(newest?.event['data']).toMatchObject({ changeRequestId: id });
    });
    const cipher = secretCipher(secretKey);
    const target = await integrationReader(service.database, cipher).findTarget(addon.id);
    const client = httpClient({ allowed: allowedAddresses('127.0.0.1'), timeoutMs: 60_000 });
    const another = reviewMessages({
      bus: service.bus,
      store: slackStore(service.database),
      slack: slackApi(withSlackAt(client.send, slack.url), slack.url),
      publicUrl: 'https://flags.example.org',
      timeoutMs: 60_000,
      now: () => new Date(),
    });
    const { arrived, release } = slack.hold('chat.update');
    const refreshing = another.refresh(target as NonNullable<typeof target>, id, () => 60_000);
    await arrived;
    describeRequest(id, { state: 'Approved', approvals: 1, basis: null });
    happened('change-request-approved', id, { summary: 'rita approved it' });
    await eventually(() => expect(slack.buttonsOf(message)).toEqual(['open']));
    release();
    await refreshing;
    expect(slack.buttonsOf(message)).toEqual(['open']);
    expect(JSON.stringify(message.blocks)).toContain('rita approved it');
    await client.close();
  });

  it('stays as it is where its event is sent again, and the history says that nothing was posted', async () => {
    const { id, message } = await posted();
    const attempt = await eventually(async () => {
      const [newest] = await service.attempts(addon.id);
      expect(newest?.event['data']).toMatchObject({ changeRequestId: id });
      return newest;
    });
    describeRequest(id, { approvals: 1 });
    happened('change-request-approval-added', id, { summary: 'rita added an approval' });
    await eventually(() => expect(JSON.stringify(message.blocks)).toContain('rita added an approval'));
    await service.call(RedeliverEvent, { params: { id: addon.id, eventId: Number(attempt?.id) } });
    await eventually(async () => {
      const [newest] = await service.attempts(addon.id);
      expect(newest?.stateDetails).toContain('Nothing is posted');
    });
    expect(JSON.stringify(message.blocks)).toContain('rita added an approval');
    expect(slack.messages.filter(({ text }) => text.includes(`#${id} `))).toHaveLength(1);
  });

  it('waits for a request that cannot be read, and repeats nothing else meanwhile', async () => {
    const id = ++requests;
    describeRequest(id);
    unreadable.add(id);
    happened('change-request-sent-to-review', id);
    const other = ++requests;
    describeRequest(other);
    happened('change-request-sent-to-review', other, { featureName: 'banner' });
    const messagesOf = (request: number) => slack.messages.filter(({ text }) => text.includes(`#${request} `));
    await eventually(async () => {
      await service.passTime();
      expect(messagesOf(other)).toHaveLength(1);
      const reasons = (await service.attempts(addon.id)).map(({ stateDetails }) => stateDetails).join();
      expect(reasons).toContain('The change request could not be read.');
    });
    unreadable.clear();
    await eventually(async () => {
      await service.passTime();
      expect(messagesOf(id)).toHaveLength(1);
    });
    expect(messagesOf(other)).toHaveLength(1);
  });

  it('is not posted for a request whose review is over by then, and drafts stay private', async () => {
    const id = ++requests;
    describeRequest(id, { state: 'Applied' });
    happened('change-added', id, { data: { changeRequestId: id, action: 'updateEnabled' } });
    happened('change-request-sent-to-review', id);
    const sent = await eventually(() => {
      const found = slack.messages.at(-1);
      if (found?.text.includes('did change-request-sent-to-review') !== true) throw new Error('Not told yet.');
      return found;
    });
    expect(slack.buttonsOf(sent)).toEqual([]);
    expect((await service.attempts(addon.id)).map(({ event }) => event['type'])).not.toContain('change-added');
  });
});

it('an attempt for an event ends with its time, also where it waits for another one about the request', async () => {
  const impatient = await startIntegrations({
    INTEGRATIONS_SLACK_URL: slack.url,
    INTEGRATIONS_PUBLIC_URL: 'https://flags.example.org',
    INTEGRATIONS_TIMEOUT_MS: '1500',
  });
  const served = await serve(
    impatient.bus,
    [implement(DescribeChangeRequest, async ({ body }) => describeRequest(body.id))],
    { checkReplies: true },
  );
  const { id: addonId } = await impatient.create({
    provider: 'slack-app',
    enabled: true,
    parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
    events: ['change-request-sent-to-review'],
  });
  const { arrived, release } = slack.hold('auth.test');
  const data = { changeRequestId: 7_000 };
  for (const featureName of ['one', 'two'])
    impatient.log.append({ type: 'change-request-sent-to-review', featureName, data });
  await arrived;
  await eventually(async () => {
    const attempts = await impatient.attempts(addonId);
    expect(attempts.map(({ state }) => state)).toEqual(['failed', 'failed']);
  });
  expect(slack.messages.filter(({ text }) => text.includes('#7000 '))).toEqual([]);
  release();
  await served.stop();
  await impatient.stop();
});

describe('a button', () => {
  it('reviews as the linked person what the message has shown, and tells the person', async () => {
    const { id, message } = await posted();
    await receive(slack.pressOf(message, 'approve', rita));
    await answered(`You approved #${id} as Rita.`);
    await receive(slack.pressOf(message, 'reject', rita));
    await answered(`You rejected #${id} as Rita.`);
    expect(reviews).toMatchObject([
      {
        teamId: slack.teamId,
        slackUserId: rita.id,
        project: 'shop',
        changeRequestId: id,
        review: 'approve',
        revision: 3,
        basis: 'basis-1',
      },
      { review: 'reject', revision: 3 },
    ]);
    expect(reviews[0]?.key).not.toBe(reviews[1]?.key);
  });

  it('opens a form for a comment, which is added as the person', async () => {
    const { id, message } = await posted();
    await receive(slack.pressOf(message, 'comment', rita));
    const view = await eventually(() => {
      const found = slack.views.at(-1);
      if (found === undefined) throw new Error('No form yet.');
      return found;
    });
    const state = { values: { comment: { comment: { value: 'Why\0 now?' } } } };
    const user = { id: rita.id, username: rita.name };
    const payload = { type: 'view_submission', user, team: { id: slack.teamId }, view: { ...view, state } };
    await receive(slack.signed(payload));
    await answered(`You commented on #${id} as Rita.`);
    expect(reviews).toMatchObject([{ review: 'comment', comment: 'Why now?', changeRequestId: id }]);
  });

  it('sends who is not linked a link, to nobody else, and does nothing', async () => {
    linked.clear();
    const { message } = await posted();
    for (const action of ['approve', 'comment']) {
      slack.answers.length = 0;
      await receive(slack.pressOf(message, action, rita));
      await answered('https://flags.example.org/link-slack?token=token-for-rita%40example.org');
    }
    expect(reviews).toEqual([]);
    expect(JSON.stringify(slack.messages)).not.toContain('token-for');
  });

  it('opens its form at once, while other buttons wait for a service that does not answer', async () => {
    const { message } = await posted();
    const [reviewing, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    onReview = () => {
      reviewing.resolve();
      return answer.promise;
    };
    const opened = slack.views.length;
    await receive(slack.pressOf(message, 'reject', rita));
    await reviewing.promise;
    await receive(slack.pressOf(message, 'comment', rita));
    await eventually(() => expect(slack.views.length).toBe(opened + 1));
    answer.resolve();
    await answered('You rejected');
  });

  it('opens its form before it reads the request, and although nobody says in time who pressed it', async () => {
    const { id, message } = await posted();
    // As after a process that has died before it noted the message.
    await service.database.query({ text: 'delete from slack_message' });
    unreadable.add(id);
    unknowable = true;
    const opened = slack.views.length;
    await receive(slack.pressOf(message, 'comment', rita));
    await eventually(async () => {
      expect(slack.views.length).toBe(opened + 1);
      const text = 'select 1 from slack_interaction where next_attempt_at is not null';
      expect(await service.database.query({ text })).toEqual([]);
    });
    expect(slack.answers).toEqual([]);
    unknowable = false;
    unreadable.clear();
  });

  it('of an old message reviews no other request that has the number since a backup was restored', async () => {
    const { id, message } = await posted();
    const presses = ['approve', 'reject'].map((action) => slack.pressOf(message, action, rita));
    describeRequest(id, { uid: `another-${id}` });
    for (const press of presses) {
      slack.answers.length = 0;
      await receive(press);
      await answered('does not exist any more');
    }
    expect(reviews).toEqual([]);
    expect(slack.buttonsOf(message)).toEqual([]);
  });

  it('says why it does nothing where the app is installed to an organisation of Enterprise Grid', async () => {
    const { message } = await posted();
    await receive(slack.pressOf(message, 'approve', rita, { organisation: 'E0SHOP' }));
    await answered('installed to a whole organisation');
    expect(reviews).toEqual([]);
  });

  it('says why a review was refused, and shows the request as it is now', async () => {
    const { id, message } = await posted();
    refuses = 'The effect has changed since.';
    onReview = () =>
      void describeRequest(id, {
        basis: 'basis-2',
        revision: 4,
        changes: [{ subject: 'banner', sentence: 'Turn off in production' }],
      });
    await receive(slack.pressOf(message, 'approve', rita));
    await answered('The effect has changed since.');
    expect(JSON.stringify(message.blocks)).toContain('Turn off in production');
    refuses = null;
    await receive(slack.pressOf(message, 'approve', rita));
    await answered('You approved');
    expect(reviews.at(-1)).toMatchObject({ basis: 'basis-2', revision: 4 });
  });

  it('works also in a message whose posting was not noted, and that message is updated from then on', async () => {
    slack.loseResponseOf('chat.postMessage');
    const { id } = await posted();
    const [lost] = slack.messages.filter(({ text }) => text.includes(`#${id} `));
    if (lost === undefined) throw new Error('There is no message.');
    await receive(slack.pressOf(lost, 'approve', rita));
    await answered(`You approved #${id}`);
    describeRequest(id, { state: 'Approved', approvals: 1 });
    happened('change-request-approved', id);
    await eventually(async () => {
      await service.passTime();
      expect(slack.buttonsOf(lost)).toEqual(['open']);
    });
  });

  it('is not lost while a service is away, and has its effect once', async () => {
    const { message } = await posted();
    let failures = 2;
    onReview = () => {
      if (failures-- > 0) throw new Error('A defect.');
    };
    await receive(slack.pressOf(message, 'approve', rita));
    await eventually(async () => {
      await service.database.query({
        text: 'update slack_interaction set next_attempt_at = clock_timestamp() where next_attempt_at is not null',
      });
      expect(slack.answers.join()).toContain('You approved');
    });
    expect(new Set(reviews.map(({ key }) => key)).size).toBe(1);
  });
});

describe('a request to the interactivity URL', () => {
  /** A review of the test before may still be sent again meanwhile. */
  const reviewsOf = (id: number) => reviews.filter(({ changeRequestId }) => changeRequestId === id);

  it('is refused if it is forged, old, from the future, repeated, or of another workspace or integration', async () => {
    const { id, message } = await posted();
    const expectRefused = async (receiving: Promise<unknown>) => {
      await expect(receiving).rejects.toMatchObject({ kind: 'AuthenticationRequired' });
      expect(reviewsOf(id)).toEqual([]);
    };
    await expectRefused(receive(slack.pressOf(message, 'approve', rita, { secret: 'f'.repeat(32) })));
    await expectRefused(receive(slack.pressOf(message, 'approve', rita, { skew: -301 })));
    await expectRefused(receive(slack.pressOf(message, 'approve', rita, { skew: 310 })));
    await expectRefused(receive(slack.pressOf(message, 'approve', rita, { teamId: 'T0OTHER' })));
    const sent = slack.pressOf(message, 'approve', rita);
    await expectRefused(receive({ ...sent, body: sent.body.replace('U0RITA', 'U0ROOT') }));
    await expectRefused(receive({ ...sent, headers: { ...sent.headers, 'x-slack-signature': '' } }));
    await expectRefused(receive(sent, addon.id + 1_000));
    const other = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags' },
      events: [],
    });
    await expectRefused(receive(sent, other.id));
    const sameApp = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
      events: [],
    });
    await service.database.query({
      text: `insert into slack_app select ${sameApp.id}, token_hash, team_id from slack_app where integration_id = ${addon.id}`,
    });
    await receive(sent);
    await eventually(() => expect(reviewsOf(id)).toHaveLength(1));
    await expect(receive(sent, sameApp.id)).rejects.toMatchObject({ kind: 'AuthenticationRequired' });
    await expect(receive(sent)).rejects.toMatchObject({ kind: 'AuthenticationRequired' });
    expect(reviewsOf(id)).toHaveLength(1);
  });

  it('is taken with a token that has posted nothing yet, of its own workspace alone', async () => {
    const { message } = await posted();
    const fresh = () =>
      service.create({
        provider: 'slack-app',
        enabled: true,
        parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
        events: [],
      });
    await receive(slack.pressOf(message, 'reject', rita, { teamId: 'T0OTHER' }), (await fresh()).id);
    await answered('of another workspace');
    expect(reviews).toEqual([]);
    await receive(slack.pressOf(message, 'approve', rita), (await fresh()).id);
    await answered('You approved');
  });

  it('of one person is refused after twenty in a minute, and no other person notices', async () => {
    const own = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
      events: [],
    });
    const { message } = await posted();
    const hasty = { id: 'U0HASTY', name: 'hasty' };
    linked.set(hasty.id, { id: 8, name: 'Hasty' });
    for (let nth = 0; nth < 20; nth++) await receive(slack.pressOf(message, 'reject', hasty), own.id);
    await expect(receive(slack.pressOf(message, 'reject', hasty), own.id)).rejects.toMatchObject({
      kind: 'RateLimitError',
    });
    // What opens an address asks for nothing.
    await receive(slack.pressOf(message, 'open', hasty), own.id);
    await receive(slack.pressOf(message, 'reject', rita), own.id);
    await answered('as Rita.');
  });

  it('that was stored is given up, and not tried for ever, where the key of the secrets is another one by then', async () => {
    const own = await service.create({
      provider: 'slack-app',
      enabled: true,
      parameters: { accessToken: slack.token, defaultChannels: 'flags', signingSecret: slack.signingSecret },
      events: [],
    });
    const query = (text: string, values: readonly unknown[] = []) =>
      service.database.query({ text }, [own.id, ...values]);
    const { message } = await posted();
    await query(`update integration set secrets = secrets || '\\x00'::bytea where id = $1`);
    const interaction = JSON.stringify(interactionIn(slack.pressOf(message, 'approve', rita).body));
    const add = `insert into slack_interaction (integration_id, signature, interaction) values ($1, 'stored before', $2)`;
    await query(add, [interaction]);
    const waiting = 'select 1 from slack_interaction where integration_id = $1 and next_attempt_at is not null';
    await eventually(async () => expect(await query(waiting)).toEqual([]));
    expect(reviews).toEqual([]);
    await service.call(DeleteAddon, { params: { id: own.id } });
  });

  it('of a guest of another workspace in a shared channel does nothing', async () => {
    const { message } = await posted();
    await receive(slack.pressOf(message, 'approve', rita, { userTeamId: 'T0OTHER' }));
    await receive(slack.pressOf(message, 'open', rita));
    await receive(slack.pressOf(message, 'reject', rita));
    await answered('You rejected');
    expect(reviews.map(({ review }) => review)).toEqual(['reject']);
  });

  it.each([
    '',
    'payload=',
    'payload=%7B',
    'payload=[]',
    'payload={"type":"block_actions","actions":[{}]}',
    'x=1&payload={"team":{"id":7}}',
  ])('with the body %j does nothing', async (body) => {
    const sent = slack.signed({});
    const timestamp = sent.headers['x-slack-request-timestamp'];
    const { createHmac } = await import('node:crypto');
    const signature = `v0=${createHmac('sha256', slack.signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
    await receive({ ...sent, body, headers: { ...sent.headers, 'x-slack-signature': signature } });
    expect(reviews).toEqual([]);
  });

  it('answers people at addresses of Slack alone', async () => {
    const { message } = await posted();
    const sent = slack.pressOf(message, 'approve', rita);
    const payload = JSON.parse(new URLSearchParams(sent.body).get('payload') ?? '') as object;
    const before = slack.answers.length;
    await receive(slack.signed({ ...payload, response_url: 'http://127.0.0.1:1/steal' }));
    await eventually(() => expect(reviews).toHaveLength(1));
    await receive(slack.pressOf(message, 'reject', rita));
    await answered('You rejected');
    expect(slack.answers).toHaveLength(before + 1);
  });

  it('has the signature of the example in the documentation of Slack', () => {
    const example = {
      secret: '8f742231b10e8888abcd99yyyzzz85a5',
      timestamp: '1531420618',
      body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    };
    expect(isSigned(example, example.secret, new Date(1_531_420_618_000))).toBe(true);
    expect(isSigned(example, example.secret, new Date(1_531_420_919_000))).toBe(false);
  });
});

describe('the signing secret', () => {
  const editor: Caller = {
    id: 9,
    name: 'ed',
    grants: [{ permission: 'CREATE_ADDON' }, { permission: 'UPDATE_ADDON' }],
  };
  const body = (signingSecret?: string) => ({
    provider: 'slack-app',
    enabled: true,
    parameters: { accessToken: '*****', ...(signingSecret === undefined ? {} : { signingSecret }) },
    events: ['change-request-sent-to-review'],
  });

  it('is set and replaced by administrators alone, and shown to nobody', async () => {
    expect(addon.parameters['signingSecret']).toBe('*****');
    const denied = { kind: 'NoAccessError' };
    const fresh = { ...body('a'.repeat(32)), parameters: { accessToken: 'x', signingSecret: 'a'.repeat(32) } };
    await expect(service.create(fresh, editor)).rejects.toMatchObject(denied);
    const update = (content: ReturnType<typeof body>) =>
      service.call(UpdateAddon, { params: { id: addon.id }, body: content }, editor);
    await expect(update(body('a'.repeat(32)))).rejects.toMatchObject(denied);
    await expect(update(body())).rejects.toMatchObject(denied);
    await expect(
      service.create({ ...fresh, parameters: { ...fresh.parameters, signingSecret: 'no secret' } }),
    ).rejects.toMatchObject({
      kind: 'ValidationError',
    });
  });
});
