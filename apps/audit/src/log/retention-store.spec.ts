import type { OutboxEvent } from '@bunting/contracts';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { anEvent } from '../../test/builders.ts';
import { openLogDatabase, type OpenedLog } from '../../test/started-audit.ts';
import { verifyChain } from './chain-store.ts';
import { eventCreators } from '../statistics/statistics-store.ts';
import { appendEvents, prepareEvent } from './append-store.ts';
import { eventSearch } from '../search/search-store.ts';
import { logSize, partitionLength, dropOldestExpiredBatch } from './retention-store.ts';

const everything = { ofNoProject: true, hiddenProjects: [] };

let log: OpenedLog;
beforeEach(async () => {
  await log?.close();
  log = await openLogDatabase();
});
afterAll(() => log.close());

function day(nth: number): string {
  return `2026-01-${String(nth).padStart(2, '0')}T12:00:00.000Z`;
}
function arriving(said: Partial<OutboxEvent>) {
  return prepareEvent(randomUUID(), anEvent(said));
}
function append(...events: readonly Partial<OutboxEvent>[]) {
  return log.database.transaction((tx) => appendEvents(tx, events.map(arriving)));
}
function appendDays(from: number, to: number) {
  return append(
    ...Array.from({ length: to - from + 1 }, (_, nth) => ({
      createdAt: day(from + nth),
      createdByUserId: from + nth,
      data: { title: `day ${from + nth}` },
    })),
  );
}
function run(...statements: readonly string[]) {
  return log.database.transaction(async ({ query }) => {
    for (const statement of statements) await query(statement);
  });
}
/** The log as it would be when so many events had come and gone. */
function after(id: number) {
  return run(`update event_log_head set id = ${id}, dropped_id = ${id}, dropped_hash = hash`);
}
function drop(before: string) {
  return dropOldestExpiredBatch(log.database, new Date(before));
}
async function ids() {
  return (await log.database.read<{ id: number }>({ text: 'select id from event order by id' })).map(({ id }) => id);
}
async function partitions() {
  return (await logSize(log.database)).partitions.map(({ name }) => name);
}

describe('The retention of events', () => {
  it('drops older events, and no longer counts or finds them', async () => {
    await appendDays(1, 10);
    const search = eventSearch(log.database);
    const find = async (text?: string) =>
      search.find({ text, visible: everything }, { from: 1_000, limit: 100 }, new Date(Date.now() + 10_000));
    expect((await find('title')).total).toBe(10);
    expect(await drop(day(5))).toBe(4);
    expect(await drop(day(5))).toBe(0);
    expect(await ids()).toEqual([5, 6, 7, 8, 9, 10]);
    for (const text of [undefined, 'title', 'DAY']) {
      const { events, total } = await find(text);
      expect([total, events.map(({ id }) => id)]).toEqual([6, [10, 9, 8, 7, 6, 5]]);
    }
    expect(
      (await search.find({ types: ['feature-created'], visible: everything }, { from: 100, limit: 1 }, new Date()))
        .total,
    ).toBe(6);
    expect((await eventCreators(log.database)(everything)).map(({ id }) => id)).toEqual([5, 6, 7, 8, 9, 10]);
    await append({ data: { title: 'later' } });
    expect((await find('title')).total).toBe(7);
  });

  it('drops the texts of old events, and keeps those that later events have, too', async () => {
    await append({ createdAt: day(1), createdBy: 'old', data: { title: 'Same', old: 'gone' } });
    await append({ createdAt: day(1), data: { title: 'Same' } }, { createdAt: day(9), data: { title: 'Same' } });
    expect(await drop(day(5))).toBe(2);
    const texts = await log.database.read<{ text: string }>({ text: 'select text from event_text order by text' });
    expect(texts.map(({ text }) => text)).toEqual(['mia@example.com', 'title\u001fsame']);
    const find = (text: string) =>
      eventSearch(log.database).find(
        { text, visible: everything },
        { from: 9, limit: 9 },
        new Date(Date.now() + 10_000),
      );
    expect((await find('same')).total).toBe(1);
    expect((await find('gone')).total).toBe(0);
  });

  it('keeps all events after one within the retention, whatever their own time', async () => {
    await append({ createdAt: day(1) }, { createdAt: day(9) }, { createdAt: day(1) });
    expect(await drop(day(5))).toBe(1);
    expect(await ids()).toEqual([2, 3]);
  });

  it('leaves a valid chain from the first kept event, and manual removals are still detected', async () => {
    await appendDays(1, 10);
    const { head, hash } = await verifyChain(log.database, { to: 4 });
    await drop(day(5));
    expect(await verifyChain(log.database)).toMatchObject({ from: 5, checked: 6, fault: null, head });
    expect((await verifyChain(log.database, { externalHash: { id: 4, hash } })).fault).toBeNull();
    expect((await verifyChain(log.database, { externalHash: { id: 4, hash: head.hash } })).fault).toMatchObject({
      id: 4,
    });
    await run('delete from event where id = 5');
    expect((await verifyChain(log.database)).fault).toMatchObject({ id: 5, kind: 'missing' });
  });

  it('drops all events when all are old, and continues the ids', async () => {
    await appendDays(1, 3);
    expect(await drop(day(20))).toBe(3);
    await append({});
    expect(await ids()).toEqual([4]);
    expect(await verifyChain(log.database)).toMatchObject({ from: 4, checked: 1, fault: null });
  });
});

describe('The partitions of the log', () => {
  it('follow each other without gaps, and hold each event once', async () => {
    const boundary = 2 * partitionLength;
    await after(boundary - 3);
    const known = arriving({ createdAt: day(1) });
    await log.database.transaction((tx) => appendEvents(tx, [known]));
    await appendDays(2, 6);
    await log.database.transaction((tx) => appendEvents(tx, [known]));
    expect(await ids()).toEqual([-2, -1, 0, 1, 2, 3].map((nth) => boundary + nth));
    expect(await partitions()).toEqual(['event_p0', 'event_p1', 'event_p2']);
    const search = eventSearch(log.database);
    for (const text of [undefined, 'feature-']) {
      const { events } = await search.find(
        { text, visible: everything },
        { from: boundary + 1, limit: 3 },
        new Date(Date.now() + 10_000),
      );
      expect(events.map(({ id }) => id)).toEqual([boundary + 1, boundary, boundary - 1]);
    }
    expect(await verifyChain(log.database)).toMatchObject({ from: boundary - 2, checked: 6, fault: null });
  });

  it('are dropped as a whole when all their events are old', async () => {
    const boundary = 2 * partitionLength;
    await after(boundary - 4);
    await appendDays(1, 6);
    expect(await partitions()).toEqual(['event_p0', 'event_p1', 'event_p2']);
    expect(await drop(day(2))).toBe(1);
    expect(await partitions()).toEqual(['event_p1', 'event_p2']);
    expect(await drop(day(2))).toBe(1);
    expect(await partitions()).toEqual(['event_p1', 'event_p2']);
    expect(await drop(day(5))).toBe(2);
    expect(await partitions()).toEqual(['event_p2']);
    expect(await drop(day(5))).toBe(1);
    expect(await ids()).toEqual([boundary + 1, boundary + 2]);
    expect((await logSize(log.database)).events).toBe(6 - 4);
    expect(await verifyChain(log.database)).toMatchObject({ checked: 2, fault: null });
  });

  it('are created for as many events as arrive', async () => {
    await after(5 * partitionLength);
    await append({});
    expect(await partitions()).toEqual([0, 1, 2, 3, 4, 5].map((nth) => `event_p${nth}`));
  });
});
