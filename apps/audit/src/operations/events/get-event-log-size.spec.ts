import { GetEventLogSize } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { anEvent } from '../../../test/builders.ts';
import { openLogDatabase, type OpenedLog, startAudit } from '../../../test/started-audit.ts';
import { appendEvents, prepareEvent } from '../../log/append-store.ts';

let log: OpenedLog;
beforeAll(async () => {
  log = await openLogDatabase();
  const now = new Date().toISOString();
  const events = ['2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z', now].map((createdAt) =>
    prepareEvent(randomUUID(), anEvent({ createdAt })),
  );
  await log.database.transaction((tx) => appendEvents(tx, events));
});
afterAll(() => log.close());

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
