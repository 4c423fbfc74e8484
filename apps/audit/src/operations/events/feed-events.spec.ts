import { FeedEvents } from '@bunting/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anEvent, lee, callerWithHiddenProjects, mia } from '../../../test/builders.ts';
import { type StartedAudit, startAudit, startEventProducer, type EventProducer } from '../../../test/started-audit.ts';

let audit: StartedAudit;
let features: EventProducer;
beforeAll(async () => {
  audit = await startAudit();
  features = await startEventProducer(audit.bus);
  await features.publish(
    anEvent({ data: { title: 'Half of Oslo' } }),
    anEvent({ type: 'feature-archived', project: 'bank' }),
    anEvent({ type: 'user-created', project: null }),
    ...Array.from({ length: 300 }, (_, nth) => anEvent({ project: 'many', data: { nth } })),
  );
});
afterAll(async () => {
  await features.stop();
  await audit.stop();
});

type Query = Parameters<typeof read>[0];
const read = (
  query: { after?: number; follow?: boolean; type?: string; project?: string; query?: string },
  caller = mia,
) => audit.call(FeedEvents, { query }, caller);

/** All pages of the feed, one after the other. */
const readAll = async (query: Query, caller = mia) => {
  const items = [];
  for (let after = query.after ?? 0; ;) {
    const page = await read({ ...query, after }, caller);
    items.push(...page.items);
    if (page.atEnd) return items;
    expect(page.next).toBeGreaterThan(after);
    after = page.next;
  }
};
const idsOf = (items: readonly { id: number }[]) => items.map(({ id }) => id);

describe('The feed', () => {
  it('feeds all events in their order, with hash, label and summary', async () => {
    const items = await readAll({});
    expect(idsOf(items)).toEqual(Array.from({ length: 303 }, (_, nth) => nth + 1));
    expect(items[0]).toMatchObject({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      data: { title: 'Half of Oslo' },
      label: 'Flag created',
      summary: expect.any(String),
    });
    const hashes = await audit.database.read<{ hash: string }>({
      name: 'hashes',
      text: "select encode(hash, 'hex') as hash from event order by id",
    });
    expect(items.map(({ hash }) => hash)).toEqual(hashes.map(({ hash }) => hash));
  });

  it('begins after an id, and ends at the newest event', async () => {
    expect(idsOf(await readAll({ after: 301 }))).toEqual([302, 303]);
    expect(await read({ after: 303 })).toEqual({ items: [], next: 303, atEnd: true });
  });

  it('contains what was committed before the request', async () => {
    for (const nth of [1, 2, 3]) {
      await features.publish(anEvent({ project: 'fresh' }));
      expect(await readAll({ project: 'IS:fresh' })).toHaveLength(nth);
    }
  });

  it('feeds events that match the filters, and skips all others', async () => {
    expect(idsOf(await readAll({ type: 'IS_ANY_OF:feature-archived,user-created' }))).toEqual([2, 3]);
    expect(idsOf(await readAll({ project: 'IS:many', query: '299' }))).toEqual([303]);
    const nothing = await read({ project: 'IS:nowhere' });
    expect(nothing.items).toEqual([]);
    expect(nothing.next).toBeGreaterThanOrEqual(303);
  });

  it('feeds each caller the events that they may see', async () => {
    expect(idsOf(await readAll({}, lee))).not.toContain(3);
    expect(idsOf(await readAll({}, callerWithHiddenProjects('shop', 'many')))).toContain(2);
    expect(idsOf(await readAll({}, callerWithHiddenProjects('bank')))).not.toContain(2);
    expect(idsOf(await readAll({ project: 'IS:shop' }, callerWithHiddenProjects('shop')))).toEqual([]);
  });

  it('has pages that the message bus can carry, however large the events are', async () => {
    const { next } = await read({ after: 303 });
    await features.publish(
      ...Array.from({ length: 5 }, () => anEvent({ project: 'large', data: { text: 'x'.repeat(300_000) } })),
    );
    const page = await read({ after: next });
    expect(page).toMatchObject({ atEnd: false, items: [{ project: 'large' }] });
    expect(await readAll({ after: next })).toHaveLength(5);
  });

  it('refuses an id that no event has yet, and names it', async () => {
    for (const follow of [true, false]) {
      await expect(read({ after: 100_000, follow })).rejects.toMatchObject({
        kind: 'ValidationError',
        details: [{ path: '/query/after' }],
      });
    }
  });
});
