import { type Database, openDatabase } from '@bunting/database';
import { eventually, freshDatabase, rowsReadBy } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { integrationsMigrations } from '../migrations/index.ts';
import { mailStore } from './mail-store.ts';

const open = (url: string) => openDatabase({ url, name: 'spec', migrations: integrationsMigrations });
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Awaited<ReturnType<typeof open>>;
let replicas: readonly [ReturnType<typeof mailStore>, ReturnType<typeof mailStore>];
beforeAll(async () => {
  fresh = await freshDatabase('integrations', {
    key: JSON.stringify(integrationsMigrations),
    migrate: async (url) => (await open(url)).close(),
  });
  database = await open(fresh.url);
  replicas = [mailStore(database), mailStore(database)];
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});
const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  database.query<Row>({ text }, values);
afterEach(() => query('truncate mail, mail_notice'));

describe('a mail that a replica sends', () => {
  const aMail = () => query(`insert into mail (id, user_id, is_daily, attempts) values ('summer sale', 2, false, 1)`);

  it('is sent by no other one, although that finds that the mail server works again', async () => {
    const [one, other] = replicas;
    await aMail();
    expect(await one.claim(50, 60_000)).toHaveLength(1);
    await other.retryAll();
    expect(await other.claim(50, 60_000)).toEqual([]);
  });

  it('stays with the one that has it, whatever one says that has lost it', async () => {
    const [one, other] = replicas;
    await aMail();
    const [lost] = await one.claim(50, 0);
    const [taken] = await other.claim(50, 60_000);
    if (lost === undefined || taken === undefined) throw new Error('No mail was due.');
    await one.release([lost]);
    await one.retry(lost, 0);
    await one.end(lost);
    expect(await one.claim(50, 60_000)).toEqual([]);
    expect((await other.waiting()).mails).toBe(1);
    await other.end(taken);
    expect((await other.waiting()).mails).toBe(0);
  });
});

describe('once the clock of the database is set back', () => {
  it('mails are sent that were tried before', async () => {
    await query(`insert into mail (id, user_id, is_daily, attempts, next_attempt_at)
      values ('summer sale', 2, false, 1, now() + interval '400 days')`);
    expect(await replicas[0].claim(50, 60_000)).toHaveLength(1);
  });

  it.each([
    ['at once', false, '1 hour'],
    ['once a day', true, '400 days'],
  ])('a notice is mailed that is mailed %s', async (_, isDaily, ahead) => {
    await query(
      `insert into mail_notice (user_id, key, kind, happened_at, notice, is_daily, due_at)
       values (2, 'a', 'flag-changed', now(), '{}', $1, now() + $2::interval)`,
      [isDaily, ahead],
    );
    await replicas[0].compose();
    expect(await replicas[0].claim(50, 60_000)).toHaveLength(1);
  });
});

describe('the mail of the day', () => {
  const notices = (count: number, userId: number) =>
    query(
      `insert into mail_notice (user_id, key, kind, happened_at, notice, is_daily, due_at)
       select $1, nth::text, 'flag-changed', now(), '{}', true, now() from generate_series(1, $2::int) as nth`,
      [userId, count],
    );
  const mailsOf = async (userId: number) =>
    (await query<{ mails: number }>(`select count(*)::int as mails from mail where user_id = $1`, [userId]))[0]?.mails;

  it('is one, however much is in it', async () => {
    await notices(1_500, 3);
    await notices(900, 2);
    await replicas[0].compose();
    expect([await mailsOf(2), await mailsOf(3)]).toEqual([1, 1]);
  });

  it('is one where two replicas make it at the same moment, while some of it is being written', async () => {
    await notices(20, 2);
    const released = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holding = database.transaction(async (tx) => {
      await tx.query(`select 1 from mail_notice where key in ('1', '2', '3') for update`);
      held.resolve();
      await released.promise;
    });
    await held.promise;
    const composing = Promise.all(replicas.map((replica) => replica.compose()));
    await eventually(async () => {
      const text = `select 1 from mail union all select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      expect((await query(text)).length).toBeGreaterThan(0);
    });
    released.resolve();
    await Promise.all([holding, composing]);
    await replicas[0].compose();
    expect(await mailsOf(2)).toBe(1);
  });

  it('is made without a look at what waits for that of tomorrow', async () => {
    await notices(2_000, 3);
    await query("update mail_notice set due_at = now() + interval '10 hours'");
    await query('analyze mail_notice');
    const sent: Parameters<Database['query']>[] = [];
    const recording: Pick<Database, 'read' | 'query' | 'transaction'> = {
      ...database,
      query: (...statement) => {
        sent.push(statement);
        return database.query(...statement);
      },
    };
    await mailStore(recording).compose();
    expect(sent.length).toBeGreaterThan(0);
    for (const [{ text }, values = []] of sent)
      expect(await rowsReadBy(fresh.url, text, values), text).toBeLessThan(10);
  });
});
