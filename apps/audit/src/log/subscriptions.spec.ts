import { type Bus, openBus } from '@bunting/bus';
import { eventually, startNats, type TestNats } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import {
  type EventProducer,
  type OpenedLog,
  openLogDatabase,
  startAudit,
  type StartedAudit,
  startedAudit,
  startEventProducer,
} from '../../test/started-audit.ts';

interface DeadLetter {
  readonly position: number;
  readonly reason: string;
}

function deadLetters(audit: StartedAudit) {
  return audit.database.read<DeadLetter>({ text: 'select position, reason from dead_letter order by position' });
}

describe("The event log of the producers' events", () => {
  const { audit, features } = startedAudit({ AUDIT_DEAD_LETTER_AFTER_MS: '0' });

  it('appends events in the order of their commits, with ascending ids', async () => {
    await Promise.all(
      Array.from({ length: 20 }, async (_, writer) => {
        for (let nth = 0; nth < 5; nth++) {
          await features.publish(
            anEvent({ project: 'commits', featureName: `of-${writer}`, data: { nth } }),
            anEvent({ project: 'commits', featureName: `of-${writer}`, data: { nth: nth + 0.5 } }),
          );
        }
      }),
    );
    const newest = await audit.search({ project: 'commits' });
    const older = await audit.search({ project: 'commits', offset: (newest.events.at(-1)?.id ?? 0) - 1 });
    const events = [...newest.events, ...older.events].toReversed();
    const positions = await features.database.read<{ payload: { featureName: string; data: { nth: number } } }>({
      text: "select payload from outbox where topic = 'event' and payload->>'project' = 'commits' order by position",
    });
    const spelled = ({ featureName, data }: { featureName?: string | null; data?: unknown }) => [featureName, data];
    expect(events.map(spelled)).toEqual(positions.map(({ payload }) => spelled(payload)));
    expect(newest.totalEvents).toBe(200);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, nth) => (events[0]?.id ?? 0) + nth));
  });

  it('turns an invalid event into a dead letter, and appends the events after it', async () => {
    const { totalEvents: before = 0 } = await audit.search();
    const poison = [
      anEvent({ type: 'feature-exploded' as 'feature-created' }),
      anEvent({ createdAt: 'yesterday' }),
      anEvent({ data: ['a list'] }),
      anEvent({ preData: 'text' }),
      null as unknown as ReturnType<typeof anEvent>,
    ];
    const emitPoison = async () => {
      for (const event of poison) {
        await features.database.transaction(({ query }) =>
          query("insert into outbox (topic, type, payload) values ('event', 'poison', $1)", [JSON.stringify(event)]),
        );
      }
    };
    await features.publish(anEvent({ project: 'poison', featureName: 'before' }));
    await emitPoison();
    await features.publish(anEvent({ project: 'poison', featureName: 'after' }));
    const { events, totalEvents = 0 } = await audit.search({ project: 'poison' });
    expect(events.map(({ featureName }) => featureName)).toEqual(['after', 'before']);
    expect((await audit.search()).totalEvents).toBe(before + totalEvents);
    const [first, second] = events;
    expect(first?.id).toBe((second?.id ?? 0) + 1);
    expect((await deadLetters(audit)).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('/payload/type'),
      expect.stringContaining('/payload/createdAt'),
      expect.stringContaining('/payload/data'),
      expect.stringContaining('/payload/preData'),
      expect.stringContaining('/payload/type'),
    ]);
    expect(audit.warnings.filter((warning) => warning.includes('It is a dead letter now'))).toHaveLength(poison.length);
  });

  it('appends an event although its producer omitted optional properties', async () => {
    const { data: _data, preData: _preData, ...short } = anEvent({ project: 'short' });
    await features.publish(short as ReturnType<typeof anEvent>);
    expect((await audit.search({ project: 'short' })).events).toMatchObject([{ data: null, preData: null }]);
  });

  it('appends events without their secrets, which no search finds', async () => {
    const key = `*:*.${'0123456789abcdef'.repeat(4)}`;
    await features.publish(
      anEvent({
        project: 'secrets',
        data: { name: 'ci', secret: 'hunter2', note: `use ${key}`, auditUser: { ip: '203.0.113.7' } },
        preData: { password: 'hunter1' },
      }),
    );
    expect((await audit.search({ project: 'secrets' })).events).toMatchObject([
      {
        data: { name: 'ci', secret: '[redacted]', note: 'use [redacted]', auditUser: { ip: '[redacted]' } },
        preData: { password: '[redacted]' },
      },
    ]);
    for (const query of ['hunter', '0123456789abcdef', '203.0.113']) {
      expect((await audit.search({ project: 'secrets', query })).totalEvents).toBe(0);
    }
  });

  it('consumes each producer while others are unavailable', async () => {
    const gateway = await startEventProducer(audit.bus, 'gateway');
    await gateway.publish(anEvent({ type: 'user-created', project: 'from the gateway' }));
    expect((await audit.search({ project: 'from the gateway' })).totalEvents).toBe(1);
    await gateway.stop();
    await features.publish(anEvent({ project: 'from features' }));
    expect((await audit.search({ project: 'from features' })).totalEvents).toBe(1);
  });

  it('consumes events without a search', async () => {
    await features.publish(anEvent({ project: 'unasked' }));
    await eventually(async () => {
      const stored = await audit.database.read({ text: "select 1 from event where project = 'unasked'" });
      expect(stored).toHaveLength(1);
    });
  });
});

describe('The event log whose wake-ups are lost', () => {
  it('pulls the missed events with the next wake-up', async () => {
    // No poll happens here: only a wake-up makes the log pull.
    const audit = await startAudit({ AUDIT_POLL_INTERVAL_MS: '3600000' });
    let lost = 0;
    let loses = true;
    const lossy: Bus = {
      ...audit.bus,
      notify: (source) => {
        if (loses) lost++;
        else audit.bus.notify(source);
      },
    };
    const features = await startEventProducer(lossy);
    for (let nth = 0; nth < 7; nth++) await features.publish(anEvent({ featureName: `lost-${nth}` }));
    expect(lost).toBeGreaterThanOrEqual(7);
    loses = false;
    await features.publish(anEvent({ featureName: 'consumed' }));
    await eventually(async () => {
      const stored = await audit.database.read<{ name: string }>({
        text: 'select feature_name as name from event order by id',
      });
      expect(stored.map(({ name }) => name)).toEqual([
        ...Array.from({ length: 7 }, (_, nth) => `lost-${nth}`),
        'consumed',
      ]);
    });
    await features.stop();
    await audit.stop();
  });
});

describe('The event log over NATS', () => {
  let nats: TestNats;
  let bus: Bus;
  let log: OpenedLog;
  let features: EventProducer;
  beforeAll(async () => {
    nats = await startNats();
    bus = await openBus(nats.url, { name: 'spec', callerKeys: nats.callerKeys });
  });
  beforeEach(async () => {
    log = await openLogDatabase();
    features = await startEventProducer(bus);
  });
  afterEach(async () => {
    await features.stop();
    await log.close();
  });
  afterAll(async () => {
    await bus.close();
    await nats.stop();
  });

  const startReplica = () => startAudit(nats.settings, { url: log.url });
  const stored = () =>
    log.database.read<{ events: number; uids: number; highest: number }>({
      text: 'select count(*) as events, count(distinct uid) as uids, max(id) as highest from event',
    });

  it('has every event once with two replicas, both of which return fresh results', async () => {
    const [one, other] = [await startReplica(), await startReplica()];
    await Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        for (let nth = 1; nth <= 10; nth++) {
          const project = `replicas-${writer}`;
          await features.publish(anEvent({ project }));
          const request = nth % 2 === 0 ? one : other;
          expect((await request.search({ project })).totalEvents).toBe(nth);
          expect((await request.search({ project, query: 'FEATURE-' })).totalEvents).toBe(nth);
        }
      }),
    );
    const { totalEvents, events } = await one.search();
    await Promise.all([one.stop(), other.stop()]);
    expect(totalEvents).toBe(100);
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, nth) => 100 - nth));
    expect(await stored()).toEqual([{ events: 100, uids: 100, highest: 100 }]);
  });

  it('stores each event once when it has lost its checkpoint and consumes all events again', async () => {
    const earlier = await startReplica();
    await features.publish(...Array.from({ length: 100 }, () => anEvent()));
    expect(await earlier.search({ limit: 1 })).toMatchObject({ totalEvents: 100 });
    await earlier.stop();
    await log.database.transaction(({ query }) => query('update consumer_checkpoint set position = 0'));
    const replica = await startReplica();
    await features.publish(anEvent({ project: 'again' }));
    expect(await replica.search({ limit: 1 })).toMatchObject({
      totalEvents: 101,
      events: [{ id: 101, project: 'again' }],
    });
    await replica.stop();
    expect(await stored()).toEqual([{ events: 101, uids: 101, highest: 101 }]);
    const position = { text: "select position from consumer_checkpoint where producer = 'features'" };
    expect(await log.database.read(position)).toEqual([{ position: 101 }]);
  });
});
