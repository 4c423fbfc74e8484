import { type Bus, systemContext } from '@bunting/bus';
import { GetPermissionsOfUsers, type ReplyOf } from '@bunting/contracts';
import { type Log, logAfterRestartMs, startLoop } from '@bunting/runtime';
import { Counter, Gauge, type Registry } from 'prom-client';
import { call } from '../calls.ts';
import { failuresThatPause, nextAttemptMs, pauseMs } from '../delivery/retry.ts';
import { MailError, type MailTransport } from '../sending/mail-transport.ts';
import type { ClaimedMail, MailStore } from './mail-store.ts';
import { dailyMailOf, type MailedNotice, type MailLinks, mailOf } from './message.ts';
import type { UnsubscribeLinks } from './unsubscribe-links.ts';

interface MailerOptions {
  readonly bus: Bus;
  readonly store: MailStore;
  readonly transport: Pick<MailTransport, 'send' | 'turn'>;
  readonly links: UnsubscribeLinks;
  /** where the console is, without a slash at the end */
  readonly publicUrl: string;
  /** milliseconds after which an attempt has ended */
  readonly timeoutMs: number;
  /** milliseconds between the attempts to send a mail */
  readonly schedule: readonly number[];
  readonly intervalMs: number;
  readonly metrics: Registry;
  readonly log: Log;
}

const maxMails = 50;
/** Another process sends a mail again whose process has not said for so long what became of it. */
const leaseMs = 300_000;
const callTimeoutMs = 10_000;
const housekeepingMs = 60_000;

type User = ReplyOf<typeof GetPermissionsOfUsers>['users'][number];

/**
 * Mails people what they want to be mailed, until it is stopped. What is mailed waits in the database until the mail server has accepted it: a
 * process that dies leaves nothing out, and a mail that is sent again has the same Message-ID.
 */
export function startMailer(options: MailerOptions) {
  const { bus, store, transport, links, publicUrl, timeoutMs, schedule, intervalMs, metrics, log } = options;
  const count = registerMailMetrics(metrics, store);
  /** how often the server has failed since it last answered; at most one a round beyond the threshold */
  let failures = 0;
  /** whether mail waits since the server has failed, which is logged once */
  let isFailing = false;
  let pausedUntil = 0;
  let isStopped = false;

  const usersOf = async (mails: readonly ClaimedMail[]): Promise<ReadonlyMap<number, User>> => {
    const body = { ids: [...new Set(mails.map(({ userId }) => userId))] };
    const { users } = await call(bus, GetPermissionsOfUsers, { body }, systemContext(callTimeoutMs));
    return new Map(users.map((user) => [user.user.id, user]));
  };

  const addressesFor = (userId: number): MailLinks => ({
    publicUrl,
    unsubscribe: (unsubscription) => `${publicUrl}/unsubscribe?token=${links.tokenOf({ userId, unsubscription })}`,
  });

  const retryOrGiveUp = async (mail: ClaimedMail, error: MailError): Promise<void> => {
    const { userId, attempts } = mail;
    // Another attempt, since servers also say so for a while.
    const isLast = error.isPermanent && attempts > 0;
    const next = isLast ? undefined : nextAttemptMs(schedule, attempts + 1, {}, Math.random());
    if (next !== undefined) {
      await store.retry(mail, next);
      return count(error.isRefusal ? 'refused' : 'failed');
    }
    await store.end(mail);
    count('given up');
    log.warn(`A mail to user ${userId} is given up after ${attempts + 1} attempts: ${error.message}.`);
  };

  /** Sends a mail once. @returns what the server did; undefined where it was not asked */
  const send = async (
    mail: ClaimedMail,
    user: User | undefined,
    notices: readonly MailedNotice[],
  ): Promise<'accepted' | 'refused' | 'failed' | undefined> => {
    const { id, userId, isDaily } = mail;
    const hidden = user?.caller.hiddenProjects ?? [];
    // The rights of now: those at the time of the event may be lost.
    const visible = notices.filter(({ project }) => project === null || !hidden.includes(project));
    const to = user?.user.email;
    const [first] = visible;
    if (to == null || to === '' || first === undefined) {
      await store.end(mail);
      count('left out');
      return undefined;
    }
    const addresses = addressesFor(userId);
    const { subject, text, unsubscription } = isDaily ? dailyMailOf(visible, addresses) : mailOf(first, addresses);
    try {
      await transport.send({ to: [to], subject, text, id, unsubscribeUrl: addresses.unsubscribe(unsubscription) });
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      await retryOrGiveUp(mail, error);
      if (error.isRefusal) return 'refused';
      if (!isFailing) log.warn(`Mail waits: ${error.message}. It is tried again.`);
      isFailing = true;
      return 'failed';
    }
    await store.end(mail);
    count('sent');
    return 'accepted';
  };

  /** Sends mails that were taken, until the server has failed too often. @returns how often it has answered, and failed */
  const sendAll = async (mails: readonly ClaimedMail[], claimedAt: number) => {
    // No mail begins that might still be sent when another process may take it. This also holds after the process was frozen.
    const mayBegin = (): boolean => performance.now() + timeoutMs < claimedAt + leaseMs;
    const untried = new Set(mails);
    let answers = 0;
    let failed = 0;
    let isBroken = false;
    try {
      const [users, notices] = await Promise.all([usersOf(mails), store.noticesOf(mails.map(({ id }) => id))]);
      const sendOne = async (mail: ClaimedMail): Promise<void> => {
        if (isStopped || isBroken || failed >= failuresThatPause || !mayBegin()) return;
        untried.delete(mail);
        try {
          const result = await send(mail, users.get(mail.userId), notices.get(mail.id) ?? []);
          if (result === 'failed') failed++;
          else if (result !== undefined) answers++;
        } catch (error) {
          isBroken = true;
          throw error;
        }
      };
      // None is given back while others of the round are still sent.
      const results = await Promise.allSettled(mails.map((mail) => transport.turn(() => sendOne(mail))));
      const broken = results.find(({ status }) => status === 'rejected');
      if (broken?.status === 'rejected') throw broken.reason;
    } finally {
      // Without the database they are free again when the lease ends.
      if (untried.size > 0) await store.release([...untried]).catch(() => undefined);
    }
    return { answers, failed };
  };

  const sendRound = async (): Promise<number> => {
    const expired = await store.compose();
    if (expired > 0) {
      count('expired', expired);
      log.warn(`${expired} mails and notices were not mailed for a week, and will not be.`);
    }
    const claimedAt = performance.now();
    const mails = await store.claim(failures >= failuresThatPause ? 1 : maxMails, leaseMs);
    if (mails.length === 0) return intervalMs;
    const { answers, failed } = await sendAll(mails, claimedAt);
    if (failed > 0) {
      // What is sent at the same time fails at the same time.
      failures = Math.min(failures + failed, Math.max(failuresThatPause, failures + 1));
      const pause = pauseMs(failures, {}, Math.random());
      pausedUntil = performance.now() + pause;
      return pause > 0 ? pause : intervalMs;
    }
    if (answers > 0) {
      if (isFailing) await store.retryAll();
      isFailing = false;
      failures = 0;
    }
    return 0;
  };

  const sending = startLoop({
    name: 'Mailing people',
    intervalMs,
    minIntervalMs: 100,
    burst: 20,
    logAfterFailingForMs: logAfterRestartMs,
    log,
    run: async () => {
      const restMs = pausedUntil - performance.now();
      return restMs > 0 ? restMs : sendRound();
    },
  });
  const housekeeping = startLoop({
    name: 'Dropping what was mailed long ago',
    intervalMs: housekeepingMs,
    log,
    run: async () => ((await store.dropOld()) > 0 ? 0 : housekeepingMs),
  });
  return {
    /** Looks for something to mail now. */
    wake: (): void => sending.wake(),
    stop: async (): Promise<void> => {
      isStopped = true;
      await Promise.all([sending.stop(), housekeeping.stop()]);
    },
  };
}

type MailOutcome = 'sent' | 'failed' | 'refused' | 'given up' | 'left out' | 'expired';

function registerMailMetrics(registry: Registry, store: MailStore) {
  const counter = new Counter({
    name: 'bunting_mails_total',
    help: 'attempts to mail people, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const waiting = new Gauge({
    name: 'bunting_mails_waiting',
    help: 'mails that the mail server has not accepted yet',
    registers: [registry],
  });
  new Gauge({
    name: 'bunting_mail_delay_seconds',
    help: 'for how long the oldest mail waits that the mail server has not accepted yet; 0 for none',
    registers: [registry],
    async collect() {
      // While the database is unavailable the metrics have their last values.
      const now = await store.waiting().catch(() => undefined);
      if (now === undefined) return;
      waiting.set(now.mails);
      this.set(now.oldestSeconds);
    },
  });
  return (outcome: MailOutcome, mails = 1): void => counter.inc({ outcome }, mails);
}
