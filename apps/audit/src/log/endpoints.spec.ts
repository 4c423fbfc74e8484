import { VerifyEventLog } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEvent } from '../../test/builders.ts';
import { type StartedAudit, startAudit, startEventProducer, type EventProducer } from '../../test/started-audit.ts';

let audit: StartedAudit;
let features: EventProducer;
beforeAll(async () => {
  audit = await startAudit();
  features = await startEventProducer(audit.bus);
  await features.publish(anEvent(), anEvent(), anEvent({ data: { title: 'third' } }), anEvent());
  await audit.search();
});
afterAll(async () => {
  await features.stop();
  await audit.stop();
});

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
    expect(await audit.call(VerifyEventLog, { query: { from: 2, known } })).toMatchObject({ intact: true, checked: 3 });
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
  });

  it('names the first altered event', async () => {
    await audit.database.transaction(({ query }) => query(`update event set data = '{"title":"3rd"}' where id = 3`));
    expect(await audit.call(VerifyEventLog)).toMatchObject({
      intact: false,
      complete: false,
      checkedTo: 2,
      fault: { id: 3, kind: 'altered', message: expect.stringContaining('Event 3') },
    });
    expect(await audit.call(VerifyEventLog, { query: { to: 2 } })).toMatchObject({ intact: true, checkedTo: 2 });
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
