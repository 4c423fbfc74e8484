import type { OutboxEvent } from '@bunting/contracts';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createHash, randomUUID } from 'node:crypto';
import { anEvent } from '../../test/builders.ts';
import { openLogDatabase, type OpenedLog } from '../../test/started-audit.ts';
import { chainColumns, type HashedEvent, eventHash, appendEvents, prepareEvent } from './append-store.ts';
import { verifyChain, type VerificationOptions } from './chain-store.ts';

let log: OpenedLog;
beforeEach(async () => {
  await log?.close();
  log = await openLogDatabase();
});
afterAll(() => log.close());

function append(...events: readonly Partial<OutboxEvent>[]) {
  return log.database.transaction((tx) =>
    appendEvents(
      tx,
      events.map((said) => prepareEvent(randomUUID(), anEvent(said))),
    ),
  );
}
/** Tampers with the tables of the log. */
function tamper(...statements: readonly string[]) {
  return log.database.transaction(async ({ query }) => {
    for (const statement of statements) await query(statement);
  });
}
function check(options: VerificationOptions = {}) {
  return verifyChain(log.database, options);
}
async function faultOf(options?: VerificationOptions) {
  const { fault } = await check(options);
  return fault === null ? null : [fault.id, fault.kind];
}
async function appendTen() {
  await append(...Array.from({ length: 6 }, (_, nth) => ({ featureName: `f${nth}`, data: { nth } })));
  await append(...Array.from({ length: 4 }, (_, nth) => ({ featureName: `g${nth}`, preData: { nth } })));
}

describe('The chain of hashes', () => {
  it('verifies for events of any content', async () => {
    await append(
      { data: { 'key "quoted"': ['\\', '\n', ' ', '😀', 'ünï', 1e21, -0.5, 1e-7, true, null, { '': '' }] } },
      { createdAt: '2026-02-03T05:05:06.1239+01:00', project: null, environment: 'production', tags: [] },
      { createdBy: 'O"Brien \\ 日本', preData: { a: { b: { c: [] } } }, tags: [{ type: 'simple', value: 'x' }] },
      { createdAt: '1969-12-31T23:59:59Z', createdByUserId: -42, data: {} },
      { createdBy: 'half \ud83d a letter', featureName: '\ude00', data: { '\ud83d': '\ude00' } },
    );
    await append({ data: { long: 'x'.repeat(100_000) } });
    const report = await check();
    expect(report).toMatchObject({ from: 1, to: 6, checked: 6, checkedTo: 6, fault: null });
    expect(report.head).toEqual({ id: 6, hash: report.hash });
  });

  it('can be computed from the documentation without Bunting', async () => {
    const uid = randomUUID();
    const event = anEvent({ data: { zebra: 1, apple: [2] }, tags: [{ type: 'simple', value: 'x' }] });
    await log.database.transaction((tx) => appendEvents(tx, [prepareEvent(uid, event)]));
    const text =
      `["${'0'.repeat(64)}",1,"${uid}","feature-created","2026-11-21T08:00:00.000000Z","mia@example.com",1,` +
      `"shop",null,"banner",{"zebra":1,"apple":[2]},null,[{"type":"simple","value":"x"}]]`;
    expect((await check()).hash).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it.each([
    ['type', "'feature-archived'"],
    ['uid', 'gen_random_uuid()'],
    ['created_at', "created_at + interval '1 microsecond'"],
    ['created_by', "'lee@example.com'"],
    ['created_by_user_id', '2'],
    ['project', 'null'],
    ['environment', "'production'"],
    ['feature_name', "'F3'"],
    ['data', `'{"nth":4}'`],
    ['data', `'{"nth": 3}'`],
    ['pre_data', `'{}'`],
    ['tags', `'[{"type":"simple","value":"x"}]'`],
    ['group_type', "'transaction'"],
    ['group_id', "'another'"],
    ['hash', `decode(repeat('ab', 32), 'hex')`],
  ])('detects that the %s of an event was altered to %s, and names the event', async (column, value) => {
    await appendTen();
    await tamper(`update event set ${column} = ${value} where id = 4`);
    const { fault, checkedTo } = await check();
    expect(fault).toMatchObject({ id: 4, kind: 'altered', message: expect.stringMatching(/^Event 4 /) });
    expect(checkedTo).toBe(3);
    if (column !== 'hash') expect(await faultOf({ from: 5 })).toBeNull();
  });

  it('detects an event that was altered together with its hash, at the next event', async () => {
    await appendTen();
    await tamper(`update event set data = '{}', hash = sha256('{}') where id = 4`);
    expect(await faultOf()).toEqual([4, 'altered']);
  });

  it('detects removed events, and names the first one', async () => {
    await appendTen();
    await tamper('delete from event where id in (4, 7)');
    expect(await faultOf()).toEqual([4, 'missing']);
    expect(await faultOf({ from: 5 })).toEqual([4, 'missing']);
    expect(await faultOf({ from: 6 })).toEqual([7, 'missing']);
  });

  it('detects removed events whose gap was closed', async () => {
    await appendTen();
    await tamper('delete from event where id = 4', 'update event set id = id + 100 where id > 4');
    await tamper('update event set id = id - 101 where id > 100', 'update event_log_head set id = 9');
    expect(await faultOf()).toEqual([4, 'altered']);
  });

  it.each([
    ['with their hashes', ''],
    [
      'and their hashes left in their places',
      ', hash = (select hash from event as there where there.id = 14 - event.id)',
    ],
  ])('detects two swapped events, %s', async (_how, more) => {
    await appendTen();
    await tamper(
      `update event set id = id + 100${more} where id in (5, 9)`,
      'update event set id = 114 - id where id > 100',
    );
    const { fault } = await check();
    expect(fault).toMatchObject({ id: 5, kind: 'moved', message: expect.stringContaining('the id 9') });
  });

  it('detects that the end of the log was removed', async () => {
    await appendTen();
    await tamper('delete from event where id > 8');
    expect(await faultOf()).toEqual([9, 'missing']);
    expect(await faultOf({ from: 9 })).toEqual([9, 'missing']);
  });

  it('detects by a kept hash that the end was removed and the head moved back', async () => {
    await appendTen();
    const { head } = await check();
    await tamper(
      'delete from event where id > 8',
      `update event_log_head set id = 8, events = 8,
         (uid, hash) = (select uid, hash from event where id = 8)`,
    );
    expect(await faultOf()).toBeNull();
    expect(await faultOf({ externalHash: head })).toEqual([9, 'missing']);
  });

  it('detects a rewritten log by a hash that was kept elsewhere', async () => {
    await appendTen();
    const { head } = await check({ to: 5 });
    const externalHash = { id: 5, hash: (await check({ to: 5 })).hash };
    expect(externalHash.hash).not.toBe(head.hash);
    expect(await faultOf({ externalHash })).toBeNull();
    await tamper(`update event set data = '{}' where id = 3`);
    const stored = await log.database.read<HashedEvent>({ text: `select ${chainColumns} from event order by id` });
    let hash = '0'.repeat(64);
    for (const event of stored) {
      hash = eventHash(hash, event);
      await tamper(`update event set hash = decode('${hash}', 'hex') where id = ${event.id}`);
    }
    await tamper(`update event_log_head set hash = decode('${hash}', 'hex')`);
    expect(await faultOf()).toBeNull();
    expect(await faultOf({ externalHash })).toEqual([5, 'altered']);
    // Also where the verified range does not include it.
    expect(await faultOf({ externalHash, from: 7 })).toEqual([5, 'altered']);
    expect(await faultOf({ externalHash, to: 3 })).toEqual([5, 'altered']);
  });

  it('refuses the hash of an event that was dropped for its age, because it cannot be compared any more', async () => {
    await appendTen();
    const externalHash = { id: 3, hash: (await check({ to: 3 })).hash };
    const { hash } = await check({ to: 4 });
    await tamper(
      'delete from event where id <= 4',
      `update event_log_head set dropped_id = 4, dropped_hash = decode('${hash}', 'hex')`,
    );
    expect(await faultOf({ externalHash: { id: 4, hash } })).toBeNull();
    await expect(check({ externalHash })).rejects.toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('event 3, which was dropped for its age'),
    });
  });

  it('detects an altered hash of the last event', async () => {
    await appendTen();
    await tamper(`update event_log_head set hash = sha256('x')`);
    expect(await faultOf()).toEqual([10, 'head']);
  });

  it('detects an inserted event, at the end or in place of another', async () => {
    await appendTen();
    const copied = `type, created_at, created_by, created_by_user_id, project, environment, feature_name, data, pre_data, tags`;
    const insert = (id: number) =>
      `insert into event (id, uid, ${copied}, hash) select ${id}, gen_random_uuid(), ${copied}, hash from event where id = 2`;
    await tamper(insert(11));
    expect(await faultOf()).toEqual([11, 'added']);
    await tamper('delete from event where id in (6, 11)', insert(6));
    expect(await faultOf()).toEqual([6, 'altered']);
  });

  it('is checked within a range, and stops in time', async () => {
    await appendTen();
    expect(await check({ from: 3, to: 7 })).toMatchObject({ from: 3, to: 7, checked: 5, checkedTo: 7, fault: null });
    expect(await check({ from: 11 })).toMatchObject({ checked: 0, checkedTo: 10, fault: null });
    expect(await check({ until: new Date(0) })).toMatchObject({ checked: 0, checkedTo: 0, to: 10, fault: null });
  });

  it('verifies while other processes append', async () => {
    let appending = true;
    const appended = (async () => {
      for (let nth = 0; nth < 30; nth++) await append({ data: { nth } }, {});
      appending = false;
    })();
    while (appending) expect(await faultOf()).toBeNull();
    await appended;
    expect(await check()).toMatchObject({ checked: 60, fault: null });
  });

  it('verifies more events than fit into one batch', async () => {
    for (let nth = 0; nth < 9; nth++) await append(...Array.from({ length: 500 }, () => ({})));
    expect(await check()).toMatchObject({ checked: 4_500, fault: null });
    await tamper('delete from event where id = 4001');
    expect(await faultOf()).toEqual([4_001, 'missing']);
  });
});
