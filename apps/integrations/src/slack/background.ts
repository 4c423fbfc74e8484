import { type Bus, systemContext } from '@bunting/bus';
import {
  asJsonObject,
  DescribeChangeRequest,
  type Event,
  InviteSlackUser,
  isFinalRefusal,
  maxCommentLength,
  Refusal,
  ReviewAsSlackUser,
  takesReviews,
} from '@bunting/contracts';
import { failureLog, type Log, logFailure, startLoop } from '@bunting/runtime';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { isChosen, isInScope, reviewedRequestOf, type Target } from '../addons/addon.ts';
import type { IntegrationReader } from '../addons/addon-store.ts';
import { call } from '../calls.ts';
import type { Attempt } from '../delivery/attempt.ts';
import { type Outcome, retryAfterMs, webhookId } from '../delivery/retry.ts';
import { slackChannels } from '../messages/request.ts';
import { escapeForSlack, shortened } from '../messages/markdown.ts';
import { hashOfToken } from '../sending/slack-signature.ts';
import type { Interaction } from './interaction.ts';
import { commentView, type Description, maxShownChanges, reviewMessage } from './review-message.ts';
import type { SlackApi, SlackReply } from './slack-api.ts';
import type { ClaimedInteraction, SlackStore } from './slack-store.ts';

const callTimeoutMs = 10_000;
const housekeepingMs = 60_000;
/** How long another replica leaves an interaction to the one that works on it. */
const leaseMs = 60_000;
/** How many interactions a process works on at the same time. */
const maxInteractions = 64;
/** Slack takes a form within three seconds after the press: for so long it is looked up who pressed, and who is not known gets the form. */
const beforeFormMs = 1_000;
/** How long an integration waits for a request that cannot be read. */
const unreadableMs = 5_000;
/** How long an interaction is tried: Slack takes answers for half an hour, and services keep replies to idempotency keys for longer. */
const maxAgeMs = 1_500_000;
const retriesMs = [2_000, 5_000, 15_000, 60_000];
/** How often messages are written anew by one update, while what they show changes. */
const maxUpdates = 4;
/** Errors of Slack after which a message is never updated again. */
const lostMessages = [
  'message_not_found',
  'channel_not_found',
  'cant_update_message',
  'edit_window_closed',
  'is_inactive',
  'not_in_channel',
  'is_archived',
];

const temporaryErrors = [
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
];

/** Whether Slack may take the same message later. */
function isTemporary({ status, error }: SlackReply): boolean {
  return status === null || status === 429 || status >= 500 || temporaryErrors.includes(error);
}

/** Another service cannot say what a request is, or is away. */
class UnreadableRequest extends Error {}

/** The time of an attempt is over. */
class OutOfTime extends Error {}

/** The milliseconds that are left of the time of an attempt. @throws OutOfTime for none */
type TimeLeft = () => number;

function timeLeftOf(timeoutMs: number): TimeLeft {
  const end = performance.now() + timeoutMs;
  return () => {
    const left = Math.floor(end - performance.now());
    if (left > 0) return left;
    throw new OutOfTime(`It was not done within ${timeoutMs} ms.`);
  };
}

/** Ends with what runs, or with its time: what runs begins nothing any more by then. */
async function withinTime<T>(running: Promise<T>, timeLeft: TimeLeft): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    const check = (): void => {
      try {
        timer = setTimeout(check, timeLeft());
      } catch (error) {
        reject(error as Error);
      }
    };
    check();
  });
  return Promise.race([running, over]).finally(() => clearTimeout(timer));
}

interface ReviewMessagesOptions {
  readonly bus: Bus;
  readonly store: SlackStore;
  readonly slack: SlackApi;
  readonly publicUrl: string;
  /** milliseconds after which an attempt has ended */
  readonly timeoutMs: number;
  readonly now: () => Date;
}

/** What has happened last to a request, as its messages say. */
interface Note {
  readonly text: string;
  readonly at: string;
}

/** The messages about change requests, with buttons as long as these are in review. */
export function reviewMessages({ bus, store, slack, publicUrl, timeoutMs, now }: ReviewMessagesOptions) {
  /** In this process one update at a time of a request. */
  const turns = new LRUCache<string, LimitFunction>({ max: 1_000 });
  const inTurn = <T>(integrationId: number, id: number, timeLeft: TimeLeft, job: () => Promise<T>): Promise<T> => {
    const key = `${integrationId} ${id}`;
    const turn = turns.get(key) ?? pLimit(1);
    turns.set(key, turn);
    const running = turn(async () => {
      timeLeft();
      return job();
    });
    return withinTime(running, timeLeft);
  };

  /** The request as it is now; undefined if it is gone. @throws UnreadableRequest */
  const describe = async (id: number, timeLeft: TimeLeft): Promise<Description | undefined> => {
    const body = { id, maxChanges: maxShownChanges };
    const context = systemContext(Math.min(callTimeoutMs, timeLeft()));
    return call(bus, DescribeChangeRequest, { body }, context).catch((error: unknown) => {
      if (error instanceof Refusal && error.kind === 'NotFoundError') return undefined;
      throw new UnreadableRequest('The change request could not be read.', { cause: error });
    });
  };

  const failedOutcome = (failed: readonly SlackReply[]): Outcome => {
    const reason = failed.map(({ error }) => `Slack refused the message: ${error.slice(0, 300)}.`).join(' ');
    const waitMs = Math.max(0, ...failed.map(({ retryAfter }) => retryAfterMs(retryAfter, now()) ?? 0));
    return { state: 'failed', status: failed[0]?.status ?? null, reason, waitMs };
  };
  const statusOf = (replies: readonly SlackReply[]) => replies[0]?.status ?? null;

  /** The workspace of the token of an integration, or what Slack replied instead. */
  const findTeam = async (target: Target, timeLeft: TimeLeft): Promise<string | SlackReply> => {
    const { accessToken = '' } = target.parameters;
    const tokenHash = hashOfToken(accessToken);
    const known = await store.findTeam(target.id, tokenHash);
    if (known !== undefined) return known;
    const reply = await slack.call(accessToken, 'auth.test', {}, timeLeft());
    const teamId = reply.body['team_id'];
    if (!reply.ok || typeof teamId !== 'string') return { ...reply, ok: false };
    await store.saveTeam(target.id, tokenHash, teamId);
    return teamId;
  };

  /** The messages about a request, with what they are to show. */
  const messagesToShow = async (target: Target, id: number, timeLeft: TimeLeft) => {
    const messages = await store.messages(target.id, id);
    const found = messages.length === 0 ? undefined : await describe(id, timeLeft);
    return messages.map(({ channel, ts, note, changeRequestUid }) => {
      // After a restored backup another request may have the number, and after an edit the integration may be for others.
      const isShown = found !== undefined && found.uid === changeRequestUid && isInScope(target, found);
      const content = reviewMessage(id, isShown ? found : undefined, note, publicUrl);
      return { key: `${channel} ${ts}`, channel, ts, isShown, content, text: JSON.stringify(content) };
    });
  };

  /**
   * Writes the present state into the messages about a request. What happens meanwhile is written as well: another replica may have replaced it by an
   * older state in between.
   */
  const update = async (target: Target, id: number, timeLeft: TimeLeft): Promise<SlackReply[]> => {
    const shown = new Map<string, string>();
    const replies = new Map<string, SlackReply>();
    for (let round = 0; round < maxUpdates; round++) {
      const messages = await messagesToShow(target, id, timeLeft);
      const stale = messages.filter(({ key, text }) => shown.get(key) !== text);
      if (stale.length === 0) break;
      await Promise.all(
        stale.map(async ({ key, channel, ts, isShown, content, text }) => {
          shown.set(key, text);
          const { accessToken = '' } = target.parameters;
          const reply = await slack.call(accessToken, 'chat.update', { channel, ts, ...content }, timeLeft());
          const isLost = !reply.ok && lostMessages.includes(reply.error);
          if (isLost || (reply.ok && !isShown)) await store.forget(target.id, { channel, ts });
          replies.set(key, isLost ? { ...reply, ok: true } : reply);
        }),
      );
    }
    return [...replies.values()];
  };

  /** Posts a message to each channel that has none of this event. */
  const post = async (
    target: Target,
    { id, uid, event, note }: { id: number; uid: string; event: Event; note: Note },
    description: Description,
    timeLeft: TimeLeft,
  ): Promise<Outcome> => {
    const { accessToken = '' } = target.parameters;
    // Buttons are taken from the workspace of the token alone.
    const team = await findTeam(target, timeLeft);
    if (typeof team === 'object') return failedOutcome([team]);
    const posted = await store.channelsOf(target.id, uid);
    const channels = slackChannels(target.parameters, event).filter((channel) => !posted.includes(channel));
    const message = reviewMessage(id, description, note.text, publicUrl);
    const replies = await Promise.all(
      channels.map(async (requestedChannel) => {
        const body = { channel: requestedChannel, ...message };
        const reply = await slack.call(accessToken, 'chat.postMessage', body, timeLeft());
        const { channel, ts } = reply.body;
        if (!reply.ok || typeof channel !== 'string' || typeof ts !== 'string') return reply;
        const where = { integrationId: target.id, channel, ts, requestedChannel };
        const what = { changeRequestId: id, changeRequestUid: description.uid, eventUid: uid };
        await store.add({ ...where, ...what, note: note.text, noteAt: note.at });
        return reply;
      }),
    );
    const failed = replies.filter(({ ok }) => !ok);
    // It is posted again only where it was not.
    if (failed.some(isTemporary) || (failed.length > 0 && failed.length === replies.length))
      return failedOutcome(failed);
    if (failed.length > 0) return { ...failedOutcome(failed), state: 'successWithErrors' };
    const reason =
      channels.length > 0
        ? 'The message with buttons is posted.'
        : 'Nothing is posted: the message about this was posted before, and shows the change request as it is now.';
    return { state: 'success', status: statusOf(replies), reason };
  };

  return {
    /** Delivers events about change requests to integrations that take reviews; all others are delivered as before. */
    attempt: (inner: Attempt): Attempt => ({
      batch: inner.batch,
      event: async (target, entry) => {
        const id = takesReviews(target) ? reviewedRequestOf(entry.event) : undefined;
        if (id === undefined) return inner.event(target, entry);
        const timeLeft = timeLeftOf(timeoutMs);
        const asMessage = () => inner.event(target, { ...entry, timeoutMs: timeLeft() });
        return inTurn(target.id, id, timeLeft, async () => {
          const { event } = entry;
          const note = { text: event.summary ?? `${event.createdBy}: ${event.type}`, at: event.createdAt };
          await store.note(target.id, id, note);
          const replies = await update(target, id, timeLeft);
          const failed = replies.filter(({ ok }) => !ok);
          if (failed.length > 0) return failedOutcome(failed);
          if (!isChosen(target, event)) {
            const reason = 'The messages about the change request are updated.';
            return { state: 'success', status: statusOf(replies), reason, isEmpty: replies.length === 0 } as const;
          }
          if (event.type !== 'change-request-sent-to-review') return asMessage();
          const description = await describe(id, timeLeft);
          if (description?.state !== 'In review') return asMessage();
          return post(target, { id, uid: webhookId(entry.uid), event, note }, description, timeLeft);
        }).catch((error: unknown): Outcome => {
          // It is tried again by itself, and becomes a dead letter in the end: thrown, it would repeat what is sent beside it.
          if (!(error instanceof UnreadableRequest || error instanceof OutOfTime)) throw error;
          return { state: 'failed', status: null, reason: error.message, waitMs: unreadableMs };
        });
      },
    }),
    findTeam,
    /** Writes the present state into the messages about a request. */
    refresh: (target: Target, id: number, timeLeft: TimeLeft): Promise<unknown> =>
      inTurn(target.id, id, timeLeft, () => update(target, id, timeLeft)),
    /** Whether the number of a button, or of a form, is that of the request whose message it was in. */
    isOf: async ({ request }: Interaction, timeLeft: TimeLeft): Promise<boolean> => {
      const description = await describe(request.id, timeLeft);
      return description !== undefined && description.uid === (request.uid ?? null);
    },
    /** Remembers the message that an interaction is about: its process may have died before. */
    adopt: async (
      target: Target,
      uid: string,
      { channel, ts, request }: Interaction,
      timeLeft: TimeLeft,
    ): Promise<void> => {
      if (channel === '' || ts === '') return;
      const known = await store.messages(target.id, request.id);
      if (known.some((message) => message.channel === channel && message.ts === ts)) return;
      const description = await describe(request.id, timeLeft);
      const isSame = description !== undefined && description.uid === (request.uid ?? null);
      if (!isSame || !isInScope(target, description)) return;
      const where = { integrationId: target.id, channel, ts, requestedChannel: channel, eventUid: uid };
      const what = { changeRequestId: request.id, changeRequestUid: description.uid };
      await store.add({ ...where, ...what, note: '', noteAt: '-infinity' });
    },
  };
}
type ReviewMessages = ReturnType<typeof reviewMessages>;

interface InteractionsOptions {
  readonly bus: Bus;
  readonly reader: IntegrationReader;
  readonly store: SlackStore;
  readonly slack: SlackApi;
  readonly messages: ReviewMessages;
  readonly publicUrl: string;
  /** milliseconds after which an attempt to do what a button asks for has ended */
  readonly timeoutMs: number;
  readonly intervalMs: number;
  readonly log: Log;
}

/**
 * Does what people ask for by buttons in Slack, until it is stopped: as the person whom the Slack account acts as, once, and tells the person what
 * became of it. A process that dies leaves the rest to another one.
 */
export function startSlackInteractions({
  bus,
  reader,
  store,
  slack,
  messages,
  publicUrl,
  timeoutMs,
  intervalMs,
  log,
}: InteractionsOptions) {
  const contextOf = (timeLeft: TimeLeft) => systemContext(Math.min(callTimeoutMs, timeLeft()));

  /** The confirmed address of a person at Slack, or why there is none. */
  const emailOf = async (target: Target, slackUserId: string, timeLeft: TimeLeft) => {
    const accessToken = target.parameters['accessToken'] ?? '';
    const reply = await slack.read(accessToken, 'users.info', { user: slackUserId }, timeLeft());
    if (!reply.ok) return { error: reply.error };
    const user = asJsonObject(reply.body['user']);
    const email = asJsonObject(user['profile'])['email'];
    if (typeof email !== 'string' || email === '') return { error: 'missing_scope' };
    return user['is_email_confirmed'] === false ? { error: 'email_not_confirmed' } : { email: email.slice(0, 320) };
  };

  /** @returns what a person is told who has not linked the account; undefined for one who has */
  const invite = async (target: Target, interaction: Interaction, timeLeft: TimeLeft): Promise<string | undefined> => {
    const { teamId, teamName, slackUserId, slackUserName, comment } = interaction;
    const slackUser = { teamId, teamName, slackUserId, slackUserName };
    const { by } = await call(bus, InviteSlackUser, { body: slackUser }, contextOf(timeLeft));
    if (by !== null) return undefined;
    const { email, error } = await emailOf(target, slackUserId, timeLeft);
    if (email === undefined)
      return `Your Slack account cannot be linked: Slack does not tell its confirmed e-mail address (${error}). The app needs the scopes users:read and users:read.email.`;
    const { token } = await call(bus, InviteSlackUser, { body: { ...slackUser, email } }, contextOf(timeLeft));
    if (token === null) return undefined;
    const link = `${publicUrl}/link-slack?token=${encodeURIComponent(token)}`;
    const lost = comment === undefined ? '' : ` Your comment was not added: ${escapeForSlack(comment)}`;
    return `Link your Slack account to your account of Bunting first, then press the button again: ${link}\nThe link is yours alone, works once and for ten minutes: give it to nobody.${lost}`;
  };

  /** Opens the form for a comment. @returns what the person is told instead; undefined for nothing */
  const askForComment = async (
    target: Target,
    interaction: Interaction,
    timeLeft: TimeLeft,
  ): Promise<string | undefined> => {
    const { teamId, teamName, slackUserId, slackUserName, triggerId } = interaction;
    const body = { teamId, teamName, slackUserId, slackUserName };
    const looking = call(bus, InviteSlackUser, { body }, systemContext(beforeFormMs));
    if ((await looking.catch(() => undefined))?.by === null) return invite(target, interaction, timeLeft);
    const form = { trigger_id: triggerId, view: commentView(interaction, maxCommentLength) };
    const opened = await slack.call(target.parameters['accessToken'] ?? '', 'views.open', form, timeLeft());
    return opened.ok ? undefined : `The form could not be opened (${opened.error}). Press the button again.`;
  };

  /** @returns what the person is told; undefined for nothing */
  const execute = async (
    target: Target,
    { uid, interaction }: ClaimedInteraction,
    timeLeft: TimeLeft,
  ): Promise<string | undefined> => {
    const { kind, request, teamId, slackUserId, comment } = interaction;
    if (teamId === '')
      return 'This app is installed to a whole organisation, which is not supported: install it to the workspace. Until then, open the change request in the console.';
    // It is known before but for a token that was entered since the last message.
    const team = await messages.findTeam(target, timeLeft);
    if (typeof team === 'object') throw new Error(`Slack does not tell the workspace of the token: ${team.error}.`);
    if (team !== teamId) return 'The button is of another workspace than the integration, and does nothing.';
    if (kind === 'ask for a comment') {
      const text = await askForComment(target, interaction, timeLeft);
      // A form opens once, so this is left to the next press where the request cannot be read.
      await messages.adopt(target, uid, interaction, timeLeft).catch((error: unknown) => {
        if (!(error instanceof UnreadableRequest || error instanceof OutOfTime)) throw error;
      });
      return text;
    }
    const lost = comment === undefined ? '' : `\nYour comment: ${escapeForSlack(comment)}`;
    if (!(await messages.isOf(interaction, timeLeft))) {
      await messages.refresh(target, request.id, timeLeft);
      return `Not done: the message is about a change request that does not exist any more, as after a restored backup. Open #${request.id} in the console.${lost}`;
    }
    await messages.adopt(target, uid, interaction, timeLeft);
    const { by, refusal } = await call(
      bus,
      ReviewAsSlackUser,
      {
        body: {
          teamId,
          slackUserId,
          key: `slack-${uid}`,
          project: request.project,
          changeRequestId: request.id,
          review: kind,
          ...(kind === 'comment' ? { comment: comment ?? '' } : { revision: request.revision }),
          ...(kind === 'approve' && request.basis !== undefined ? { basis: request.basis } : {}),
        },
      },
      contextOf(timeLeft),
    );
    if (by === null) return (await invite(target, interaction, timeLeft)) ?? 'Press the button again.';
    if (refusal === null) return `${done[kind]} #${request.id} as ${escapeForSlack(by.name)}.`;
    // The message shows something that is not so any more, or has buttons that do nothing.
    await messages.refresh(target, request.id, timeLeft);
    return `Not done: ${escapeForSlack(refusal)} The message now shows the change request as it is (as ${escapeForSlack(by.name)}).${lost}`;
  };

  const work = async (claimed: ClaimedInteraction): Promise<void> => {
    const { id, integrationId, interaction, attempts, ageMs } = claimed;
    const timeLeft = timeLeftOf(timeoutMs);
    try {
      const target = await reader.findTarget(integrationId);
      if (target?.enabled !== true || !takesReviews(target)) return await store.finish(id);
      const text = await execute(target, claimed, timeLeft);
      if (text !== undefined) {
        const { ok, error } = await slack.answer(interaction.responseUrl, shortened(text, 2_900), timeLeft());
        if (!ok)
          log.warn(`A person in Slack was not told what became of a button (integration ${integrationId}): ${error}.`);
      }
      await store.finish(id);
    } catch (error) {
      if (ageMs < maxAgeMs && !isFinalRefusal(error)) {
        await store.postpone(id, retriesMs[attempts - 1] ?? 60_000);
        throw error;
      }
      logFailure(log, `A button in Slack was given up (integration ${integrationId})`, error);
      await store.finish(id);
      const text = 'This could not be done. Open the change request in the console.';
      await slack.answer(interaction.responseUrl, text, timeoutMs);
    }
  };

  const running = new Set<Promise<void>>();
  const failures = failureLog(log);
  const loop = startLoop({
    name: 'Buttons in Slack',
    intervalMs,
    minIntervalMs: 20,
    burst: 50,
    log,
    run: async () => {
      // A form that is pressed now is opened now, however slow others are.
      const free = maxInteractions - running.size;
      if (free === 0) return;
      for (const claimed of await store.claim(leaseMs, free)) {
        const working = work(claimed)
          .then(() => failures.ended(claimed.id))
          .catch((error: unknown) => {
            failures.failed(claimed.id, `A button in Slack waits (integration ${claimed.integrationId})`, error);
          })
          .finally(() => {
            if (running.size === maxInteractions) loop.wake();
            running.delete(working);
          });
        running.add(working);
      }
    },
  });
  const housekeeping = startLoop({
    name: 'Dropping old interactions of Slack',
    intervalMs: housekeepingMs,
    log,
    run: () => store.dropOld(),
  });
  return {
    /** Looks for interactions now. */
    wake: (): void => loop.wake(),
    /** Waits for those that have begun. */
    stop: async (): Promise<void> => {
      await Promise.all([loop.stop(), housekeeping.stop()]);
      await Promise.all(running);
    },
  };
}

const done = { approve: 'You approved', reject: 'You rejected', comment: 'You commented on' } as const;
