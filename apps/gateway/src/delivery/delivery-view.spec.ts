import type { DeliveryState, OutboxMessage } from '@bunting/contracts';
import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { featureRow, givenRows, segmentRow } from '../../test/delivery-rows.ts';
import { deliveryStore } from './delivery-store.ts';
import { deliveryView } from './delivery-view.ts';

const MiB = 1024 * 1024;
const scope = { environment: 'development', inlineSegments: false };

const startStore = (maxRemoved?: number) => {
  const store = deliveryStore(maxRemoved === undefined ? {} : { maxRemoved });
  let position = 0;
  /** Applies rows as one commit. */
  const write = (...states: readonly DeliveryState[]): void => {
    const messages = states.map((payload): OutboxMessage => {
      const row = { position: ++position, uid: randomUUID(), type: payload.entity, payload };
      return { ...row, recordedAt: new Date().toISOString(), traceparent: null };
    });
    store.apply(messages, position, true);
  };
  const reset = (): void => {
    position = 0;
    store.reset();
  };
  write(...givenRows('default'));
  return { store, write, reset };
};
const archived = (name: string): DeliveryState => ({
  entity: 'feature',
  id: name,
  state: { name, project: 'default', archived: true },
});
const typesIn = (delta: { readonly body: Buffer } | undefined): string[] =>
  (JSON.parse(delta?.body.toString() ?? '{"events":[]}') as { events: { type: string }[] }).events.map(
    ({ type }) => type,
  );

it('a view caches the deltas from many old revisions within some MiB, and none that alone exceeds them', () => {
  const { store, write } = startStore();
  const large = (nth: number) => featureRow(`large-${nth}`, { description: 'x'.repeat(200_000) });
  for (let nth = 0; nth < 60; nth++) write(large(nth));
  const view = deliveryView(store, scope);
  const from = store.position;
  for (let after = from - 60; after < from; after++) expect(view.since(after)?.revision).toBe(from);
  expect(view.bytes).toBeGreaterThan(MiB);
  expect(view.bytes).toBeLessThan(5 * MiB);
  const before = view.bytes;
  expect(view.since(from - 59)?.body.length).toBeGreaterThan(10 * MiB);
  expect(view.bytes).toBe(before);
});

it('a client with a later revision than that of the gateway gets no older state', async () => {
  const { store, write } = startStore();
  const [late, current] = [deliveryView(store, scope), deliveryView(startStoreWith(2).store, scope)];
  write(featureRow('first'));
  const { etag } = await current.full('gzip');
  expect(late.isLater(etag.slice(1, -1))).toBe(true);
  expect(late.since(current.revision(), true)).toBeUndefined();
  expect(typesIn(late.since(current.revision(), false))).toEqual(['hydration']);
  expect(late.isLater(late.etag('identity').slice(1, -1))).toBe(false);
  expect(late.isLater('99999999:0123:7')).toBe(false);
});

it('a client whose revision is from before a restored backup gets everything, and deltas from then on', () => {
  const { store, write } = startStore();
  const view = deliveryView(store, scope);
  const before = store.position;
  write({ entity: 'history', id: 'restored', state: { restoredAt: '2026-01-01T00:00:00.000Z' } });
  const restored = view.since(before);
  expect([typesIn(restored), restored?.revision]).toEqual([['hydration'], store.position]);
  expect(view.since(store.position)).toBeUndefined();
  write(featureRow('after-the-restore'));
  expect(typesIn(view.since(before))).toEqual(['hydration']);
  expect(typesIn(view.since(store.position - 1))).toEqual(['feature-updated']);
});
const startStoreWith = (features: number) => {
  const started = startStore();
  for (let nth = 0; nth < features; nth++) started.write(featureRow(`flag-${nth}`));
  return started;
};

it('a client whose revision is older than the stored removals gets everything, and 304 from then on', () => {
  const { store, write } = startStore(20);
  const view = deliveryView(store, scope);
  write(featureRow('stays'));
  const old = view.revision();
  for (let nth = 0; nth < 100; nth++) write(featureRow(`gone-${nth}`), archived(`gone-${nth}`));
  const kept = [...store.features()].filter(({ isArchived }) => isArchived).length;
  expect(kept).toBeGreaterThan(15);
  expect(kept).toBeLessThan(30);
  const [hydrated, recent] = [view.since(old), view.since(store.position - 4)];
  expect([typesIn(hydrated), typesIn(recent)]).toEqual([['hydration'], ['feature-removed', 'feature-removed']]);
  expect(view.since(hydrated?.revision ?? 0)).toBeUndefined();
  // A scope of which nothing was removed gets everything once, not with each poll.
  const other = deliveryView(store, { ...scope, namePrefix: 'stays' });
  expect(typesIn(other.since(old))).toEqual(['hydration']);
  expect(other.since(other.revision())).toBeUndefined();
});

it('a view caches a full response once, in the encoding that clients accept, and derives the others with the same content', async () => {
  const { store, write } = startStore();
  write(...Array.from({ length: 200 }, (_, nth) => featureRow(`flag-${nth}`)));
  let resized = 0;
  const view = deliveryView(store, scope, () => resized++);
  const zipped = await view.full('gzip');
  expect(view.bytes).toBeLessThan(2_000 + zipped.body.length);
  const whole = await view.full('identity');
  const parsed = (body: Buffer) => JSON.parse(body.toString()) as { features: unknown[]; meta: { etag: string } };
  const [one, other] = [parsed(gunzipSync(zipped.body)), parsed(whole.body)];
  expect(one.features).toEqual(other.features);
  expect([one.meta.etag, other.meta.etag]).toEqual([zipped.etag, whole.etag]);
  expect([view.isCurrent(zipped.etag.slice(1, -1)), resized]).toEqual([true, 2]);
});

it('a view is incomplete until all rows of the restored backup are applied', () => {
  const { store, reset } = startStore();
  reset();
  const [first] = givenRows('default');
  const message = { position: 1, uid: randomUUID(), type: 'environment', payload: first as DeliveryState };
  store.apply([{ ...message, recordedAt: '', traceparent: null }], 1, false);
  expect(store.isWhole).toBe(false);
  store.apply([{ ...message, position: 2, recordedAt: '', traceparent: null }], 2, true);
  expect(store.isWhole).toBe(true);
});

it('a delta removes a deleted segment for a client that may have it, until removals are pruned', () => {
  const { store, write } = startStore(4);
  const view = deliveryView(store, scope);
  write(segmentRow(1, 'ada'), featureRow('one'));
  const before = store.position;
  write({ entity: 'segment', id: '1', state: null });
  expect(typesIn(view.since(before))).toEqual(['segment-removed']);
  for (let nth = 2; nth < 12; nth++) write(segmentRow(nth, 'ada'), { entity: 'segment', id: String(nth), state: null });
  expect(typesIn(view.since(before))).toEqual(['hydration']);
});
