import {
  type Caller,
  EndMails,
  type Event,
  GetNotificationPreferences,
  MarkAllNotificationsRead,
  type NotificationKind,
  SetNotificationPreference,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { type MailServer, startMailServer } from '@bunting/testing/destinations';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';

const lee: Caller = { id: 2, name: 'lee', grants: [] };
const rita: Caller = { id: 3, name: 'rita', grants: [] };
const publicUrl = 'https://flags.example.org';

let service: StartedIntegrations;
let server: MailServer;
const start = (settings: Readonly<Record<string, string>> = {}) =>
  startIntegrations({ SMTP_URL: server.url, INTEGRATIONS_PUBLIC_URL: `${publicUrl}/`, ...settings });
beforeAll(async () => {
  server = await startMailServer();
  service = await start();
});
afterAll(async () => {
  await service.stop();
  await server.stop();
});

const query = <Row extends object>(text: string) => service.database.query<Row>({ name: text.slice(0, 60), text });
const waiting = async () => (await query<{ mails: number }>('select count(*)::int as mails from mail'))[0]?.mails;
/** Waits until everything in the log is told, and what is due is mailed. */
const hasMailed = () =>
  eventually(async () => {
    const [row] = await query<{ position: string }>('select position from inbox_position');
    expect(Number(row?.position)).toBe(service.log.head);
    const [due] = await query<{ due: number }>('select count(*)::int as due from mail_notice where due_at <= now()');
    expect([due?.due, await waiting()]).toEqual([0, 0]);
  });
/** What comes daily is due, and what failed. */
const passTime = async () => {
  await query('update mail_notice set due_at = now() where due_at is not null');
  await query('update mail set next_attempt_at = now()');
};
const prefer = (kind: NotificationKind, body: { inbox?: boolean; mail?: 'at-once' | 'daily' | 'never' }, who = lee) =>
  service.call(SetNotificationPreference, { params: { kind }, body }, who);
const happened = async (...events: readonly Partial<Event>[]) => {
  const entries = service.log.append(...events);
  await hasMailed();
  return entries;
};
const toReview: Partial<Event> = {
  type: 'change-request-sent-to-review',
  createdBy: 'lee',
  createdByUserId: lee.id,
  data: { changeRequestId: 7 },
  featureName: null,
};
const aFailure: Partial<Event> = {
  ...toReview,
  type: 'change-request-scheduled-application-failure',
  createdByUserId: 1,
};

beforeEach(async () => {
  service.people.user(lee.id, 'lee');
  service.people.user(rita.id, 'rita');
  service.people.request(7, { author: lee.id, reviewers: [rita.id] });
  service.people.follow('banner', lee.id);
  await hasMailed();
});
afterEach(async () => {
  server.refuse();
  await query('truncate notification, notification_preference, mail, mail_notice');
  server.mails.length = 0;
  expect(server.faults).toEqual([]);
});

describe('mail at once', () => {
  it('goes to the address of the account of whom it concerns, and to nobody else', async () => {
    await happened(toReview);
    expect(server.mails).toMatchObject([{ to: ['rita@example.com'] }]);
    const [mail] = server.mails;
    expect(mail?.headers.get('subject')).toBe('Your review is asked: Summer sale');
    expect(mail?.headers.get('from')).toBe('Bunting <bunting@localhost>');
    expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail?.text).toContain(`${publicUrl}/projects/shop/change-requests/7`);
  });

  it('comes for a kind that is chosen, and not for one that is not', async () => {
    await prefer('flag-changed', { mail: 'at-once' });
    await prefer('review-requested', { mail: 'never' }, rita);
    await happened(toReview, {});
    expect(server.mails.map(({ to }) => to[0])).toEqual(['lee@example.com']);
  });

  it('comes also where the inbox is turned off for the kind', async () => {
    await prefer('review-requested', { inbox: false }, rita);
    await happened(toReview);
    expect(server.mails).toHaveLength(1);
  });

  it('does not go to who has no address, or no account any more', async () => {
    service.people.user(lee.id, 'lee', {}, null);
    service.people.remove(rita.id);
    await happened(toReview, aFailure);
    expect(server.mails).toEqual([]);
  });

  it('is about nothing that its reader may not see any more', async () => {
    server.refuse({ at: 'rcpt', code: 451 });
    service.log.append(toReview);
    await eventually(async () => expect((await query('select 1 from mail where attempts = 1')).length).toBe(1));
    service.people.user(rita.id, 'rita', { hiddenProjects: ['shop'] });
    server.refuse();
    await passTime();
    await hasMailed();
    expect(server.mails).toEqual([]);
  });

  it('of a storm is one mail after thirty', async () => {
    await prefer('flag-changed', { mail: 'at-once' });
    const names = Array.from({ length: 40 }, (_, nth) => `flag-${nth}`);
    for (const name of names) service.people.follow(name, lee.id);
    await happened(...names.map((featureName) => ({ featureName })));
    expect(server.mails).toHaveLength(30);
    await passTime();
    await hasMailed();
    expect(server.mails.at(-1)?.headers.get('subject')).toBe('10 notifications of the day');
  });
});

describe('the mail of the day', () => {
  it('has everything since the last one, at the hour that is set', async () => {
    service.people.request(8, { author: lee.id, title: 'Winter sale' });
    const approval: Partial<Event> = { ...toReview, type: 'change-request-approved', createdByUserId: rita.id };
    await happened(approval, {
      ...approval,
      data: { changeRequestId: 8 },
      summary: '**rita** approved **Winter sale**',
    });
    expect(server.mails).toEqual([]);
    const due = await query<{ hour: number; isComing: boolean }>(
      `select extract(hour from due_at at time zone 'UTC')::int as hour,
         due_at > now() and due_at <= now() + interval '1 day' as "isComing" from mail_notice`,
    );
    expect(due).toEqual([
      { hour: 7, isComing: true },
      { hour: 7, isComing: true },
    ]);
    await passTime();
    await hasMailed();
    expect(server.mails).toHaveLength(1);
    expect(server.mails[0]?.headers.get('subject')).toBe('2 notifications of the day');
    expect(server.mails[0]?.text).toContain('- rita approved Winter sale');
  });

  it('names people and flags as they were called when it happened, also those that are gone by then', async () => {
    await prefer('flag-changed', { mail: 'daily' });
    await happened(
      { createdByUserId: rita.id, summary: '**rita@example.com** enabled **banner**' },
      { type: 'feature-deleted', createdByUserId: 1 },
      { type: 'user-deleted', project: null, featureName: null, createdByUserId: 1, preData: { id: rita.id } },
    );
    service.people.remove(rita.id);
    await passTime();
    await hasMailed();
    expect(server.mails).toMatchObject([{ to: ['lee@example.com'] }]);
    expect(server.mails[0]?.text).toContain('- rita@example.com enabled banner\n');
  });

  it('leaves out what its reader has read in the inbox, and a review that is settled', async () => {
    await prefer('review-requested', { mail: 'daily' }, rita);
    const byRita = { ...toReview, createdByUserId: rita.id };
    await happened(
      toReview,
      { ...byRita, type: 'change-request-approval-added' },
      { ...byRita, type: 'change-request-approved' },
    );
    expect((await query('select 1 from notification where read_at is null')).length).toBe(1);
    await service.call(MarkAllNotificationsRead, { body: { upTo: Number.MAX_SAFE_INTEGER } }, lee);
    await passTime();
    await hasMailed();
    expect(server.mails).toEqual([]);
  });
});

describe('a mail that is not accepted', () => {
  it('is sent again with the same Message-ID, which nobody else has, until it is', async () => {
    server.refuse({ at: 'data', code: 451 });
    service.log.append(aFailure, toReview);
    await eventually(async () => expect((await query('select 1 from mail where attempts = 1')).length).toBe(2));
    const ids = new Set(
      (await query<{ id: string }>('select id from mail')).map(({ id }) => `<${id}@flags.example.org>`),
    );
    server.refuse();
    await passTime();
    await hasMailed();
    expect(ids.size).toBe(2);
    expect(new Set(server.mails.map(({ headers }) => headers.get('message-id')))).toEqual(ids);
  });

  it('is the same mail also when the server did not say that it has it', async () => {
    await happened(toReview);
    const [first] = server.mails;
    await query('update mail_notice set due_at = now()');
    await hasMailed();
    expect(server.mails).toHaveLength(2);
    expect(server.mails[1]?.headers.get('message-id')).toBe(first?.headers.get('message-id'));
  });

  it('waits while the server is away, and comes when it is back', async () => {
    await server.goDown();
    service.log.append(toReview, aFailure);
    await eventually(async () => expect((await query('select 1 from mail where attempts > 0')).length).toBe(2));
    expect(service.lines.join('')).toContain('Mail waits: the mail server failed');
    await server.comeBack();
    await query('update mail set next_attempt_at = now() where user_id = 3');
    await hasMailed();
    expect(server.mails).toHaveLength(2);
  });

  it('is the only one that comes twice when the database fails while its end is noted', async () => {
    await prefer('flag-changed', { mail: 'at-once' });
    const names = Array.from({ length: 30 }, (_, nth) => `page-${nth}`);
    for (const name of names) service.people.follow(name, lee.id);
    await query('create sequence ended_mails');
    await query(`create function fail_once() returns trigger language plpgsql as $$
      begin if nextval('ended_mails') = 1 then raise 'the disk is full'; end if; return old; end $$`);
    await query('create trigger fail_once before delete on mail for each row execute function fail_once()');
    server.answerAfter(50);
    try {
      service.log.append(...names.map((featureName) => ({ featureName })));
      // It is not said that it is sent until its lease ends.
      await eventually(async () => expect(await waiting()).toBe(1));
      await passTime();
      await hasMailed();
    } finally {
      server.answerAfter(0);
      await query('drop function fail_once cascade');
    }
    expect(new Set(server.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(30);
    expect(server.mails).toHaveLength(31);
  });

  it('is given up after the last attempt, which the log says without the address', async () => {
    server.refuse({ at: 'rcpt', code: 450 });
    service.log.append(toReview);
    for (const attempts of [1, 2, 3]) {
      await eventually(async () =>
        expect((await query(`select 1 from mail where attempts = ${attempts}`)).length).toBe(1),
      );
      await passTime();
    }
    await hasMailed();
    expect(service.lines.join('')).toContain('is given up after 4 attempts');
    expect(service.lines.join('')).not.toContain('rita@');
  });

  it('is forgotten after a week, which the log says', async () => {
    await query(`insert into mail (id, user_id, is_daily, created_at, next_attempt_at)
      values ('old', 3, false, now() - interval '8 days', now() + interval '1 day')`);
    await eventually(() => expect(service.lines.join('')).toContain('1 mails and notices were not mailed for a week'));
    await hasMailed();
    expect(server.mails).toEqual([]);
  });

  it('is given up after the second attempt where the server knows no such address', async () => {
    server.refuse({ at: 'rcpt', code: 550 });
    service.log.append(toReview);
    await eventually(async () => expect((await query('select 1 from mail where attempts = 1')).length).toBe(1));
    await passTime();
    await hasMailed();
    expect(service.lines.join('')).toContain('is given up after 2 attempts');
  });
});

describe('hostile input', () => {
  it('adds no header and no recipient, and breaks no line', async () => {
    service.people.user(rita.id, 'rita', {}, 'rita@example.com\r\nBcc: eve@example.com');
    service.people.request(7, { author: lee.id, reviewers: [rita.id], title: 'a\r\nBcc: eve@example.com\r\n\r\nbody' });
    const long = `${'x'.repeat(400)} \r\n.\r\n..MAIL FROM:<eve@example.com>\r\n.`;
    service.log.append(
      { ...toReview, summary: `**${'ä'.repeat(3_000)}**` },
      { ...aFailure, data: { changeRequestId: 7, reason: long } },
    );
    await eventually(() => expect(server.mails).toHaveLength(1));
    const [mail] = server.mails;
    expect(mail?.to).toEqual(['lee@example.com']);
    expect([...(mail?.headers.keys() ?? [])]).not.toContain('bcc');
    expect(mail?.headers.get('subject')).toBe('Failed or suspended: a Bcc: eve@example.com body');
    expect(mail?.text).toContain('> .\n> ..MAIL FROM:<eve@example.com>\n> .');
    // The address that is none stays with the server of nobody.
    await query('delete from mail');
  });
});

describe('unsubscribing', () => {
  const linkOf = (nth = 0) => {
    const header = server.mails[nth]?.headers.get('list-unsubscribe') ?? '';
    return new URL(header.slice(1, -1));
  };
  const tokenOf = (nth = 0) => linkOf(nth).searchParams.get('token') ?? '';
  const unsubscribe = (token: string) =>
    service.call(EndMails, { query: { token } }, { id: -1, name: 'anonymous', grants: [] });
  const chosen = async (who: Caller) => {
    const { kinds } = await service.call(GetNotificationPreferences, {}, who);
    return new Map(kinds.map(({ kind, mail }) => [kind, mail]));
  };

  it('works by the button of mail programs, and by the link in the text', async () => {
    await happened(toReview);
    expect(server.mails[0]?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(linkOf().href.startsWith(`${publicUrl}/unsubscribe?token=`)).toBe(true);
    expect(server.mails[0]?.text).toContain(linkOf().href);
  });

  it('ends the mails of the kind, and nothing else, without a session, any number of times', async () => {
    await happened(toReview);
    const before = await chosen(rita);
    await unsubscribe(tokenOf());
    await unsubscribe(tokenOf());
    expect(await chosen(rita)).toEqual(new Map([...before, ['review-requested', 'never']]));
    expect((await chosen(lee)).get('review-requested')).toBe('at-once');
    await happened(toReview);
    expect(server.mails).toHaveLength(1);
  });

  it('from the mail of the day ends what comes in it', async () => {
    await happened({ ...toReview, type: 'change-request-approved', createdByUserId: rita.id });
    await passTime();
    await hasMailed();
    await unsubscribe(tokenOf());
    const after = await chosen(lee);
    expect([...after.values()]).not.toContain('daily');
    expect(after.get('review-requested')).toBe('at-once');
  });

  it('from the mail of the day also ends what comes at once and came in it as one of too many', async () => {
    await prefer('flag-changed', { mail: 'at-once' });
    const names = Array.from({ length: 31 }, (_, nth) => `banner-${nth}`);
    for (const name of names) service.people.follow(name, lee.id);
    await happened(...names.map((featureName) => ({ featureName })));
    await passTime();
    await hasMailed();
    const daily = server.mails.findIndex(({ headers }) => headers.get('subject')?.endsWith('of the day'));
    await unsubscribe(tokenOf(daily));
    expect((await chosen(lee)).get('flag-changed')).toBe('never');
    expect((await chosen(lee)).get('review-requested')).toBe('at-once');
  });

  it('needs a token that was signed for just that', async () => {
    await happened(toReview);
    const [id, kind, signature = ''] = tokenOf().split('.');
    const forged = [`2.${kind}.${signature}`, `${id}.daily.${signature}`, `${id}.${kind}.`, `${id}.${kind}`, '', '..'];
    for (const token of forged) await expect(unsubscribe(token)).rejects.toMatchObject({ kind: 'InvalidTokenError' });
  });
});

it('the preferences say where mail goes, and that it is set up', async () => {
  const { mail } = await service.call(GetNotificationPreferences, {}, lee);
  expect(mail).toEqual({ isSetUp: true, address: 'lee@example.com', dailyHour: 7 });
});

it('without a mail server, the preferences say so, and nothing waits to be mailed', async () => {
  const without = await startIntegrations({ INTEGRATIONS_MAIL_HOUR: '5' });
  try {
    without.people.user(rita.id, 'rita');
    without.people.request(7, { author: lee.id, reviewers: [rita.id] });
    await eventually(async () => {
      const begun = await without.database.query({ text: 'select 1 from inbox_position' });
      expect(begun).toHaveLength(1);
    });
    without.log.append(toReview);
    await eventually(async () => {
      const rows = await without.database.query({ text: 'select 1 from notification' });
      expect(rows).toHaveLength(1);
    });
    expect(await without.database.query({ text: 'select 1 from mail_notice' })).toEqual([]);
    const { mail } = await without.call(GetNotificationPreferences, {}, rita);
    expect(mail).toEqual({ isSetUp: false, address: null, dailyHour: 5 });
  } finally {
    await without.stop();
  }
});
