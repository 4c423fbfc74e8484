import { serve } from '@bunting/bus';
import { CollectDeadLetters, GetEventLogSize, VerifyEventLog } from '@bunting/contracts';
import { openDatabase } from '@bunting/database';
import { consumerTables, readDeadLettersEndpoint } from '@bunting/outbox';
import { eventually, freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import {
  type EventProducer,
  type OpenedLog,
  openLogDatabase,
  startAudit,
  type StartedAudit,
  startEventProducer,
} from '../../test/started-audit.ts';
import { appendEvents, prepareEvent } from './append-store.ts';

describe('verifying', () => {
  const startWithFourEvents = async () => {
    const audit = await startAudit();
    const features = await startEventProducer(audit.bus);
    await features.publish(anEvent(), anEvent(), anEvent({ data: { title: 'third' } }), anEvent());
    await audit.search();
    return {
      audit,
      stop: async () => {
        await features.stop();
        await audit.stop();
      },
    };
  };
  let unchanged: Awaited<ReturnType<typeof startWithFourEvents>>;
  let audit: StartedAudit;
  beforeAll(async () => {
    unchanged = await startWithFourEvents();
    ({ audit } = unchanged);
  });
  afterAll(() => unchanged.stop());

  describe('The verification of the event log', () => {
    it('reports an intact log, and the hash to keep for the next verification', async () => {
      const { head, ...report } = await audit.call(VerifyEventLog);
      expect(report).toMatchObject({
        intact: true,
        complete: true,
        from: 1,
        to: 4,
        checked: 4,
        checkedTo: 4,
        fault: null,
      });
      expect(head).toEqual({ id: 4, hash: report.hash });
      const known = `${head.id}:${head.hash}`;
      expect(await audit.call(VerifyEventLog, { query: { from: 2, known } })).toMatchObject({
        intact: true,
        checked: 3,
      });
    });

    it('refuses a range that begins after the next event', async () => {
      expect(await audit.call(VerifyEventLog, { query: { from: 5 } })).toMatchObject({
        intact: true,
        from: 5,
        checked: 0,
      });
      await expect(audit.call(VerifyEventLog, { query: { from: 6 } })).rejects.toMatchObject({
        kind: 'ValidationError',
        message: expect.stringMatching(/\/query\/from.* the last event has the id 4\./),
      });
    });

    it('names events that were pruned before the log read them', async () => {
      const { audit, stop } = await startWithFourEvents();
      expect(await audit.call(VerifyEventLog)).toMatchObject({ neverArrived: [] });
      const requests = await startEventProducer(audit.bus, 'change-requests');
      await requests.database.transaction(async ({ query }) => {
        const row = `insert into outbox (topic, type, payload) values ('event', 'change-added', '{}')`;
        for (let nth = 1; nth <= 3; nth++) await query(row);
        await query("select outbox_head('event')");
        await query('delete from outbox where position < 4');
      });
      await requests.publish(anEvent());
      await audit.search();
      expect(await audit.call(VerifyEventLog)).toMatchObject({
        intact: true,
        neverArrived: [{ service: 'change-requests', first: 1, last: 3 }],
      });
      await requests.stop();
      await stop();
    });

    it('names the first altered event', async () => {
      const { audit, stop } = await startWithFourEvents();
      await audit.database.transaction(({ query }) => query(`update event set data = '{"title":"3rd"}' where id = 3`));
      expect(await audit.call(VerifyEventLog)).toMatchObject({
        intact: false,
        complete: false,
        checkedTo: 2,
        fault: { id: 3, kind: 'altered', message: expect.stringContaining('Event 3') },
      });
      expect(await audit.call(VerifyEventLog, { query: { to: 2 } })).toMatchObject({ intact: true, checkedTo: 2 });
      await stop();
    });

    it.each([
      [{ from: 3, to: 2 }, '/query/from'],
      [{ known: 'abc' }, '/query/known'],
      [{ known: `1:${'g'.repeat(64)}` }, '/query/known'],
    ])('refuses %j and names the fault', async (query, path) => {
      await expect(audit.call(VerifyEventLog, { query })).rejects.toMatchObject({
        kind: 'ValidationError',
        details: [{ path }],
      });
    });
  });
});

describe('dead letters', () => {
  let nats: TestNats;
  let audit: StartedAudit;
  let features: EventProducer;
  beforeAll(async () => {
    nats = await startNats();
    audit = await startAudit({ AUDIT_DEAD_LETTER_AFTER_MS: '0', ...nats.settings });
    features = await startEventProducer(audit.bus);
  });
  afterAll(async () => {
    await features.stop();
    await audit.stop();
    await nats.stop();
  });

  it('lists events until they can be appended, and reports the log as incomplete until then', async () => {
    const inAudit = (statement: string) => audit.database.transaction(({ query }) => query(statement));
    await inAudit("alter table event_search add constraint no_doom check (project is distinct from 'doom')");
    await features.publish(anEvent({ project: 'before' }));
    await features.publish(anEvent({ project: 'doom', featureName: 'late' }));
    await features.publish(anEvent({ project: 'after' }));
    expect((await audit.search()).events.map(({ project }) => project)).toEqual(['after', 'before']);

    const { deadLetters, unanswered } = await audit.call(CollectDeadLetters);
    const letter = {
      service: 'audit',
      producer: 'features',
      topic: 'event',
      position: 2,
      type: 'feature-created',
      attempts: 1,
      reason: expect.stringContaining('"no_doom"'),
    };
    expect(deadLetters).toEqual([expect.objectContaining(letter)]);
    expect(unanswered.toSorted()).toEqual(['change-requests', 'gateway', 'search']);
    const [{ uid, reason } = { uid: '', reason: '' }] = deadLetters;
    expect(await audit.call(VerifyEventLog)).toMatchObject({
      intact: true,
      complete: false,
      checkedTo: 2,
      deadLetters: [{ service: 'features', position: 2, uid, reason, attempts: 1 }],
    });
    expect(audit.warnings).toContainEqual(
      expect.stringContaining(`audit could not apply event 2 of features (uid ${uid})`),
    );

    await inAudit('alter table event_search drop constraint no_doom');
    const replica = await startAudit(nats.settings, { url: audit.url });
    await eventually(async () => expect((await audit.call(CollectDeadLetters)).deadLetters).toEqual([]));
    expect((await audit.search()).events.map(({ project }) => project)).toEqual(['doom', 'after', 'before']);
    expect(await audit.call(VerifyEventLog)).toMatchObject({ intact: true, complete: true, deadLetters: [] });
    await replica.stop();
  });

  it('lists the dead letters of the other services that respond', async () => {
    const fresh = await freshDatabase();
    const steps = [consumerTables];
    const database = await openDatabase({ url: fresh.url, name: 'search', migrations: steps });
    await database.transaction(({ query }) =>
      query(
        `insert into dead_letter (producer, topic, position, uid, payload, reason, type, recorded_at, attempts, next_attempt_at)
       values ('features', 'state', 7, gen_random_uuid(), '{}', 'cannot be applied', 'feature', now(), 3, now())`,
      ),
    );
    const served = await serve(audit.bus, [readDeadLettersEndpoint('search', database)], { checkReplies: true });
    expect(await audit.call(CollectDeadLetters)).toMatchObject({
      deadLetters: [{ service: 'search', producer: 'features', topic: 'state', position: 7, attempts: 3 }],
      unanswered: expect.arrayContaining(['change-requests', 'gateway']),
    });
    await served.stop();
    await database.close();
    await fresh.drop();
  });
});

describe('measuring', () => {
  let log: OpenedLog;
  beforeEach(async () => {
    log = await openLogDatabase();
    const now = new Date().toISOString();
    const events = ['2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z', now].map((createdAt) =>
      prepareEvent(randomUUID(), anEvent({ createdAt })),
    );
    await log.database.transaction((tx) => appendEvents(tx, events));
  });
  afterEach(() => log.close());

  describe('The size of the log', () => {
    it('counts events and bytes, and names the retention', async () => {
      const audit = await startAudit({}, { url: log.url });
      const size = await audit.call(GetEventLogSize);
      expect(size).toMatchObject({
        events: 3,
        firstId: 1,
        lastId: 3,
        oldest: '2020-01-01T00:00:00.000Z',
        retentionDays: null,
        unindexed: 0,
      });
      expect(size.bytes.log).toBeGreaterThan(0);
      expect(size.bytes.total).toBeGreaterThan(size.bytes.log + size.bytes.search);
      expect(size.partitions.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(size.bytes.log);
      await audit.stop();
    });

    it('shrinks when events exceed the retention', async () => {
      const audit = await startAudit({ AUDIT_RETENTION_DAYS: '30' }, { url: log.url });
      await eventually(async () =>
        expect(await audit.call(GetEventLogSize)).toMatchObject({ events: 1, firstId: 3, retentionDays: 30 }),
      );
      await audit.stop();
    });
  });
});
