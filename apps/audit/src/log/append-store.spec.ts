import type { OutboxEvent } from '@bunting/contracts';
import { onlyRow } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import { openedLog } from '../../test/started-audit.ts';
import { appendEvents, prepareEvent } from './append-store.ts';
import { dropOldestExpiredBatch } from './retention-store.ts';
import { rememberedTexts } from './text-store.ts';

interface Row {
  readonly id: number;
  readonly uid: string;
  readonly feature_name: string;
}

const log = openedLog();

function arriving(event: OutboxEvent = anEvent(), uid: string = randomUUID()) {
  return prepareEvent(uid, event);
}
function append(...events: readonly ReturnType<typeof arriving>[]) {
  return log.database.transaction((tx) => appendEvents(tx, events));
}
function rows() {
  return log.database.read<Row>({ text: 'select id, uid, feature_name from event order by id' });
}
function counts() {
  return log.database.read<{ head: number; all: number; searchable: number }>({
    text: `select head.id as head, head.events as all,
           (select count(*) from event_search join event using (id, type)) as searchable
         from event_log_head as head`,
  });
}
function empty() {
  return log.database.transaction(async ({ query }) => {
    await query('truncate event, event_search, event_text');
    await query('update event_log_head set id = 0, uid = null, events = 0');
  });
}

describe('The event log', () => {
  it('assigns ids from 1 in the order of arrival', async () => {
    await empty();
    await append(arriving(anEvent({ featureName: 'a' })), arriving(anEvent({ featureName: 'b' })));
    await append(arriving(anEvent({ featureName: 'c' })));
    expect((await rows()).map(({ id, feature_name }) => [id, feature_name])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('stores all characters, control characters too, and distinguishes null from an empty text', async () => {
    await empty();
    const odd = 'a\u0001b\u001cc\u001dd\u001ee\u001ff';
    const published = [{ name: odd, [odd]: '' }, null, {}, { text: '\u001d' }];
    await append(...published.map((data) => arriving(anEvent({ data, preData: data, createdBy: odd }))));
    const stored = await log.database.read<{ data: unknown; pre_data: unknown; created_by: string }>({
      text: 'select data, pre_data, created_by from event order by id',
    });
    expect(stored).toEqual(published.map((data) => ({ data, pre_data: data, created_by: odd })));
    expect(await counts()).toMatchObject([{ all: published.length, searchable: published.length }]);
  });

  it('stores an event once under one id, however often it arrives', async () => {
    await empty();
    const [one, two, three] = [arriving(), arriving(), arriving()];
    await append(one, two, one);
    await append(two, three, two);
    await append(one);
    expect((await rows()).map(({ id, uid }) => [id, uid])).toEqual([
      [1, one.uid],
      [2, two.uid],
      [3, three.uid],
    ]);
    expect(await counts()).toEqual([{ head: 3, all: 3, searchable: 3 }]);
  });

  it('identifies an event by its uid regardless of case', async () => {
    await empty();
    const uid = randomUUID();
    await append(arriving(anEvent(), uid));
    await append(arriving(anEvent(), uid.toUpperCase()));
    expect(await rows()).toHaveLength(1);
  });

  it('stores nothing of a transaction that is rolled back, and leaves no gap in the ids', async () => {
    await empty();
    await append(arriving());
    const failing = log.database.transaction(async (tx) => {
      await appendEvents(tx, [arriving(), arriving()]);
      throw new Error('stopped here');
    });
    await expect(failing).rejects.toThrow('stopped here');
    await append(arriving());
    expect((await rows()).map(({ id }) => id)).toEqual([1, 2]);
    expect(await counts()).toEqual([{ head: 2, all: 2, searchable: 2 }]);
  });

  it('shows a follower every event while several processes append concurrently', async () => {
    await empty();
    let appending = true;
    const seen: number[] = [];
    const follow = async (): Promise<void> => {
      for (let last = 0; ;) {
        const done = !appending;
        const page = await log.database.read<{ id: number }>(
          { text: 'select id from event where id > $1 order by id limit 7' },
          [last],
        );
        seen.push(...page.map(({ id }) => id));
        last = seen.at(-1) ?? 0;
        if (done && page.length === 0) return;
      }
    };
    const following = follow();
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let nth = 0; nth < 10; nth++) {
          await append(...Array.from({ length: 1 + ((writer + nth) % 4) }, () => arriving()));
        }
      }),
    );
    appending = false;
    await following;
    const stored = (await rows()).map(({ id }) => id);
    expect(stored).toEqual(Array.from({ length: stored.length }, (_, nth) => nth + 1));
    expect(seen).toEqual(stored);
    expect(await counts()).toEqual([{ head: stored.length, all: stored.length, searchable: stored.length }]);
  });

  it('stores events once that several processes append concurrently', async () => {
    await empty();
    const events = Array.from({ length: 40 }, () => arriving());
    await Promise.all([0, 10, 20, 30].map((from) => append(...events.slice(from), ...events.slice(0, from))));
    const stored = await rows();
    expect(stored.map(({ uid }) => uid).toSorted()).toEqual(events.map(({ uid }) => uid).toSorted());
    expect(stored.map(({ id }) => id)).toEqual(events.map((_, nth) => nth + 1));
  });

  it('looks no text up again while it alone appends, and refers to stored texts whatever happens to the log', async () => {
    await empty();
    const texts = rememberedTexts();
    const by = (createdBy: string) => arriving(anEvent({ createdBy }));
    const appendBy = (...people: readonly string[]) =>
      log.database.transaction((tx) => appendEvents(tx, people.map(by), texts));
    const statementsOf = async (job: () => Promise<void>): Promise<number> => {
      const before = log.database.statements;
      await job();
      return log.database.statements - before;
    };
    const stored = () =>
      log.database.read({
        text: `select array_agg(text order by text) as creators from event_text where part = 0
               and not exists (select from event_search where creator_text not in (select id from event_text))`,
      });
    await appendBy('mia');
    const withLookUp = await statementsOf(() => appendBy('lee'));
    expect(await statementsOf(() => appendBy('mia', 'lee'))).toBe(withLookUp - 1);
    const failing = log.database.transaction(async (tx) => {
      await appendEvents(tx, [by('zoe')], texts);
      throw new Error('stopped here');
    });
    await expect(failing).rejects.toThrow('stopped here');
    await appendBy('zoe');
    await append(by('ann'));
    await appendBy('ann');
    expect(await stored()).toEqual([{ creators: ['ann', 'lee', 'mia', 'zoe'] }]);
    await dropOldestExpiredBatch(log.database, new Date('2100-01-01'));
    await appendBy('mia');
    expect(await stored()).toEqual([{ creators: ['mia'] }]);
  });

  it('adds at most 2,400 bytes of WAL for an update of a strategy, whose texts it has already', async () => {
    await empty();
    const strategy = (rollout: number) => ({
      id: '0b6e0f6a-2a0c-4f0e-9d3e-6f2f1d0c9a11',
      name: 'flexibleRollout',
      title: 'Half of Oslo',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['user-1', 'user-2'], inverted: false }],
      parameters: { rollout: String(rollout), stickiness: 'default', groupId: 'banner' },
      segments: [777],
    });
    const updates = (count: number) =>
      Array.from({ length: count }, (_, nth) =>
        arriving(
          anEvent({
            type: 'feature-strategy-update',
            environment: 'production',
            data: strategy((nth + 1) % 101),
            preData: strategy(nth % 101),
          }),
        ),
      );
    await append(...updates(200));
    // The pool lends the connection that was returned last, so that of the events is asked.
    const written = async (): Promise<number> => {
      await log.database.query({ text: 'select pg_stat_force_next_flush()' });
      const text = 'select wal_bytes::int8 as bytes from pg_stat_get_backend_wal(pg_backend_pid())';
      return onlyRow(await log.database.query<{ bytes: number }>({ text })).bytes;
    };
    const before = await written();
    await append(...updates(400));
    expect(((await written()) - before) / 400).toBeLessThan(2_400);
    expect(await log.database.read({ text: 'select count(*) as texts from event_text' })).toEqual([
      { texts: 1 + 1 + 101 },
    ]);
  });
});
