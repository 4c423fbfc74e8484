import type { ClientDelta, DeliveryState, OutboxMessage } from '@bunting/contracts';
import { expect, it, vi } from 'vitest';
import { randomInt, randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { aSetting, aStrategy, featureRow, givenRows, segmentRow } from '../../test/delivery-rows.ts';
import { deliveryStore } from '../store/delivery-store.ts';
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

it('a long full state that is taken compressed is nowhere in memory uncompressed', async () => {
  const { store, write } = startStore();
  for (let nth = 0; nth < 3_000; nth++) write(featureRow(`flag-${nth}`, { description: 'x'.repeat(2_000) }));
  const view = deliveryView(store, scope);
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
  try {
    const hydration = view.hydration();
    await view.encode(hydration, 'gzip');
    expect(hydration.length).toBeGreaterThan(4 * MiB);
    expect(Math.max(...allocated.mock.calls.map(([size]) => size))).toBeLessThan(hydration.length);
  } finally {
    allocated.mockRestore();
  }
});

it('a long body is one buffer for all who read it, and takes none of the cache uncompressed', async () => {
  const { store, write } = startStore();
  for (let nth = 0; nth < 60; nth++) write(featureRow(`long-${nth}`, { description: 'ß'.repeat(100_000) }));
  const view = deliveryView(store, scope);
  const [whole, zipped] = [await view.full('identity'), await view.full('gzip')];
  const first = whole.body;
  expect(JSON.parse(first.toString())).toMatchObject({ features: { length: 60 }, meta: { etag: whole.etag } });
  // Responses that wait for their clients are counted by their buffer.
  expect(whole.body).toBe(first);
  expect(view.hydration().body).toBe(view.hydration().body);
  expect(first.length).toBeGreaterThan(10 * MiB);
  expect(view.bytes).toBeLessThan(2 * zipped.body.length + MiB);
});

it('a client with a later revision than that of the gateway gets no older state', async () => {
  const { store, write } = startStore();
  const [late, current] = [deliveryView(store, scope), deliveryView(startStoreWith(2).store, scope)];
  write(featureRow('first'));
  const { etag } = await current.full('gzip');
  expect(late.isLater(etag.slice(1, -1), () => true)).toBe(true);
  expect(late.since(current.revision(), () => true)).toBeUndefined();
  expect(typesIn(late.since(current.revision()))).toEqual(['hydration']);
  expect(late.isLater(late.etag('identity').slice(1, -1), () => true)).toBe(false);
  expect(late.isLater('99999999:0123:7', () => true)).toBe(false);
});

it('a client with a later revision of a history that is lost gets everything, whatever else may lag', async () => {
  const { store } = startStore();
  const view = deliveryView(store, scope);
  const current = deliveryView(startStoreWith(2).store, scope);
  const { etag } = await current.full('gzip');
  store.hydrateBelow(current.revision() + 1);
  expect(typesIn(view.since(current.revision(), () => true))).toEqual(['hydration']);
  expect(view.isLater(etag.slice(1, -1), () => true)).toBe(false);
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

it('a content that was changed and changed back has the newest revision, and a client that has it is current', async () => {
  const { store, write } = startStore();
  const view = deliveryView(store, scope);
  const set = (description: string) => write(featureRow('switched', { description }));
  set('on');
  const first = await view.full('identity');
  // Another gateway may have sent what this one does not read.
  set('off');
  set('on');
  const again = await view.full('identity');
  const { meta } = JSON.parse(again.body.toString()) as { meta: { revisionId: number } };
  expect(meta.revisionId).toBe(view.revision());
  expect(view.isCurrent(first.etag.slice(1, -1))).toBe(true);
});

it('a view is incomplete until all rows of the restored backup are applied', () => {
  const { store, reset } = startStore();
  reset();
  const [first] = givenRows('default');
  const message = { position: 1, uid: randomUUID(), type: 'environment', payload: first as DeliveryState };
  store.apply([{ ...message, recordedAt: '', traceparent: null }], 1, false);
  expect(store.isComplete).toBe(false);
  store.apply([{ ...message, position: 2, recordedAt: '', traceparent: null }], 2, true);
  expect(store.isComplete).toBe(true);
});

it('a delta removes a segment with the change by which the last feature of the scope ceased to use it, and nothing follows its deletion', () => {
  const { store, write } = startStore();
  const view = deliveryView(store, scope);
  const using = (name: string, ...segments: number[]) =>
    featureRow(name, { environments: { development: aSetting({ strategies: [aStrategy(segments)] }) } });
  write(segmentRow(1, 'ada'), using('one', 1), using('other', 1));
  view.hydration();
  const before = store.position;
  write(using('one'));
  expect(typesIn(view.since(before))).toEqual(['feature-updated']);
  write(archived('other'));
  expect(typesIn(view.since(before)).sort()).toEqual(['feature-removed', 'feature-updated', 'segment-removed']);
  const unused = store.position;
  write({ entity: 'segment', id: '1', state: null });
  expect([view.since(unused), view.revision()]).toEqual([undefined, unused]);
});

it('the deletion of an archived feature tells clients nothing but what its archiving has told, and a new one of its name is added', () => {
  const { store, write } = startStore();
  const view = deliveryView(store, scope);
  write(featureRow('gone'));
  const before = store.position;
  write(archived('gone'));
  const revisions = [view.revision(), view.evaluatedRevision()];
  write(
    { entity: 'feature', id: 'gone', state: null },
    { entity: 'former-feature', id: 'gone default', state: { name: 'gone', project: 'default' } },
  );
  expect([view.revision(), view.evaluatedRevision()]).toEqual(revisions);
  expect([view.since(store.position - 2), typesIn(view.since(before))]).toEqual([undefined, ['feature-removed']]);
  write(featureRow('gone'));
  expect(typesIn(view.since(before))).toEqual(['feature-removed', 'feature-updated']);
});

const tag = (value: string) => ({ type: 'simple', value });
it.each([
  ['a tag', featureRow('one', { tags: [tag('red')] })],
  ['a segment that no feature uses', segmentRow(9, 'ada')],
  ['the deletion of a segment that no feature uses', { entity: 'segment', id: '8', state: null } as const],
  ['a segment in use that is written again unchanged', segmentRow(7, 'ada')],
  ['a feature of another project', featureRow('elsewhere', { project: 'elsewhere' })],
])('clients get no delta after %s', (_what, row) => {
  const { store, write } = startStore();
  const environments = { development: aSetting({ strategies: [aStrategy([7])] }) };
  write(segmentRow(7, 'ada'), segmentRow(8, 'ada'), featureRow('used', { environments }), featureRow('one'));
  const view = deliveryView(store, { ...scope, projects: ['default'] });
  const before = [view.revision(), view.evaluatedRevision()];
  const held = store.position;
  write(row);
  expect([view.since(held), view.revision(), view.evaluatedRevision()]).toEqual([undefined, ...before]);
});

it('clients that choose features by tags get those that gain a tag, lose those that lose it, and hear of no others', () => {
  const { store, write } = startStore();
  write(featureRow('one', { tags: [tag('red')] }), featureRow('other'));
  const view = deliveryView(store, { ...scope, tags: [tag('red')] });
  const typesAfter = (...rows: DeliveryState[]) => {
    const held = store.position;
    write(...rows);
    return typesIn(view.since(held));
  };
  expect(typesAfter(featureRow('other', { description: 'changed' }))).toEqual([]);
  expect(typesAfter(featureRow('other', { tags: [tag('red')] }))).toEqual(['feature-updated']);
  expect(typesAfter(featureRow('one', { tags: [tag('blue')] }))).toEqual(['feature-removed']);
  expect(typesAfter(featureRow('one', { tags: [tag('blue')], description: 'changed' }))).toEqual([]);
});

it('a description, a type, a stale mark and the name of a segment change what SDKs get, and no evaluation', () => {
  const { store, write } = startStore();
  const environments = { development: aSetting({ strategies: [aStrategy([7])] }) };
  write(segmentRow(7, 'ada'), featureRow('one', { environments }));
  const view = deliveryView(store, scope);
  const evaluated = view.evaluatedRevision();
  const renamed = { id: 7, name: 'renamed', constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }] };
  for (const row of [
    featureRow('one', { environments, description: 'changed', stale: true, type: 'experiment' }),
    { entity: 'segment', id: '7', state: renamed } as DeliveryState,
  ]) {
    const held = store.position;
    write(row);
    expect([view.since(held) !== undefined, view.evaluatedRevision()]).toEqual([true, evaluated]);
  }
  write(featureRow('one', { environments, impressionData: true }));
  expect(view.evaluatedRevision()).toBe(store.position);
  write(segmentRow(7, 'bob'));
  expect(view.evaluatedRevision()).toBe(store.position);
});

/** As many segments as features, so that most are used by one feature or by none. */
const segmentCount = 300;
/** A random change of one of 300 features, or of a segment that some of them use. */
const randomChange = (): DeliveryState[] => {
  const name = `flag-${randomInt(300)}`;
  const [project, other] = randomInt(4) === 0 ? ['elsewhere', 'default'] : ['default', 'elsewhere'];
  const former = (of: string): DeliveryState => {
    return { entity: 'former-feature', id: `${name} ${of}`, state: { name, project: of } };
  };
  switch (randomInt(8)) {
    case 0:
      return [segmentRow(randomInt(segmentCount), `user-${randomInt(1_000)}`)];
    case 1:
      return [archived(name)];
    case 2:
      return [archived(name), { entity: 'feature', id: name, state: null }, former('default'), former('elsewhere')];
    default: {
      const segments = randomInt(2) === 0 ? [randomInt(segmentCount)] : [];
      const environments = { development: aSetting({ strategies: [aStrategy(segments)] }) };
      return [featureRow(name, { project, description: 'x'.repeat(randomInt(500)), environments }), former(other)];
    }
  }
};

it.each([
  ['with segments beside the features', { ...scope, projects: ['default'] }],
  ['with the constraints of segments in the strategies', { ...scope, inlineSegments: true }],
])('a view that followed every change responds as one that was just made, %s', async (_, viewed) => {
  const { store, write } = startStore();
  write(...Array.from({ length: segmentCount }, (_row, id) => segmentRow(id, 'ada')));
  for (let nth = 0; nth < 1_000; nth++) write(...randomChange());
  const view = deliveryView(store, viewed);
  const withoutMeta = (body: Buffer) => {
    const { meta: _meta, ...content } = JSON.parse(body.toString()) as Record<string, unknown>;
    return content;
  };
  for (let round = 0; round < 200; round++) {
    for (let nth = 0; nth < randomInt(1, 4); nth++) write(...randomChange());
    const made = deliveryView(store, viewed);
    const [zipped, whole] = [await view.full('gzip'), await made.full('identity')];
    expect(withoutMeta(gunzipSync(zipped.body))).toEqual(withoutMeta(whole.body));
    expect(made.isCurrent(zipped.etag.slice(1, -1))).toBe(true);
    const [hydration, expected] = [view.hydration(), made.hydration()];
    expect(hydration.body.equals(expected.body)).toBe(true);
    const compressed = await view.encode(hydration, 'gzip');
    expect(gunzipSync(compressed).equals(expected.body)).toBe(true);
  }
});

/** What an SDK has after events, which it applies by the names of features, as Unleash's do. */
const applyEvents = (
  { flags, segments }: { readonly flags: Map<string, unknown>; readonly segments: Map<number, unknown> },
  delta: { readonly body: Buffer } | undefined,
): void => {
  if (delta === undefined) return;
  const { events } = JSON.parse(delta.body.toString()) as ClientDelta;
  for (const event of events) {
    if (event.type === 'hydration') {
      for (const held of [flags, segments]) held.clear();
      for (const feature of event.features) flags.set(feature.name, feature);
      for (const segment of event.segments) segments.set(segment.id, segment);
    }
    if (event.type === 'segment-updated') segments.set(event.segment.id, event.segment);
    if (event.type === 'segment-removed') segments.delete(event.segmentId);
    if (event.type === 'feature-updated') flags.set(event.feature.name, event.feature);
    if (event.type === 'feature-removed') flags.delete(event.featureName);
  }
};

it.each([
  ['all projects', scope],
  ['both projects', { ...scope, projects: ['default', 'elsewhere'] }],
  ['one project', { ...scope, projects: ['default'] }],
])('an SDK with %s has the same by deltas as by a hydration, also between the rows of one change', (_which, viewed) => {
  const { store, write } = startStore();
  const view = deliveryView(store, viewed);
  const held = { flags: new Map<string, unknown>(), segments: new Map<number, unknown>() };
  applyEvents(held, view.hydration());
  let revision = view.revision();
  for (let nth = 0; nth < 3_000; nth++) {
    for (const row of randomChange()) {
      write(row);
      if (randomInt(3) > 0) continue;
      applyEvents(held, view.since(revision));
      revision = view.revision();
    }
  }
  applyEvents(held, view.since(revision));
  const hydrated = { flags: new Map<string, unknown>(), segments: new Map<number, unknown>() };
  applyEvents(hydrated, view.hydration());
  const sorted = <K>(map: Map<K, unknown>) => [...map].sort(([one], [other]) => (one < other ? -1 : 1));
  expect(sorted(held.flags)).toEqual(sorted(hydrated.flags));
  expect(sorted(held.segments)).toEqual(sorted(hydrated.segments));
});

it('a feature that moves within a scope is removed from its former project, and then updated', () => {
  const { store, write } = startStore();
  write(featureRow('moving'));
  const view = deliveryView(store, scope);
  const before = view.revision();
  write(featureRow('moving', { project: 'elsewhere' }));
  const between = view.revision();
  write({ entity: 'former-feature', id: 'moving default', state: { name: 'moving', project: 'default' } });
  for (const revision of [before, between])
    expect(JSON.parse(view.since(revision)?.body.toString() ?? '')).toMatchObject({
      events: [
        { type: 'feature-removed', featureName: 'moving', project: 'default' },
        { type: 'feature-updated', feature: { name: 'moving', project: 'elsewhere' } },
      ],
    });
});

it('a feature that moves away or is deleted is removed for SDKs that poll between the two rows of it', () => {
  for (const left of [
    featureRow('moving', { project: 'elsewhere' }),
    { entity: 'feature', id: 'moving', state: null },
  ]) {
    const { store, write } = startStore();
    write(featureRow('moving'), featureRow('stays'));
    const view = deliveryView(store, { ...scope, projects: ['default'] });
    const before = view.revision();
    write(left as DeliveryState);
    view.revision();
    write({
      entity: 'former-feature',
      id: 'moving default',
      state: { name: 'moving', project: 'default' },
    });
    expect(typesIn(view.since(before))).toEqual(['feature-removed']);
    expect(JSON.parse(view.hydration().body.toString())).toMatchObject({ events: [{ features: [{ name: 'stays' }] }] });
  }
});

it('a change of one feature leaves the compressed bytes of nearly all others as they are', async () => {
  const { store, write } = startStore();
  write(...Array.from({ length: 5_000 }, (_, nth) => featureRow(`flag-${String(nth).padStart(4, '0')}`)));
  const view = deliveryView(store, scope);
  const before = (await view.full('gzip')).body;
  write(featureRow('flag-2500', { description: 'changed' }));
  const after = (await view.full('gzip')).body;
  // Compares the bytes without the headers, the ends, and the part with the feature.
  const same = (from: number, to: number, shift: number) =>
    before.subarray(from, to).equals(after.subarray(from + shift, to + shift));
  const shift = after.length - before.length;
  expect(same(0, Math.floor(before.length * 0.4), 0)).toBe(true);
  expect(same(Math.ceil(before.length * 0.6), before.length - 400, shift)).toBe(true);
});

it('a full response in gzip is at most a tenth larger than one stream of the same bytes', async () => {
  const { store, write } = startStore();
  const strategies = () => [{ ...aStrategy(), parameters: { rollout: String(randomInt(100)), groupId: randomUUID() } }];
  write(
    ...Array.from({ length: 3_000 }, (_, nth) =>
      featureRow(`flag-${nth}`, { environments: { development: aSetting({ strategies: strategies() as never }) } }),
    ),
  );
  const view = deliveryView(store, scope);
  const [zipped, whole] = [await view.full('gzip'), await view.full('identity')];
  expect(zipped.body.length / gzipSync(whole.body).length).toBeLessThan(1.1);
});

it('a full response in gzip that is compressed while features change has the features as they were, and the next one as they are', async () => {
  const { store, write } = startStore();
  const rows = (description: string) =>
    Array.from({ length: 2_000 }, (_, nth) => featureRow(`flag-${nth}`, { description }));
  write(...rows('first'));
  const view = deliveryView(store, scope);
  await view.full('gzip');
  const descriptionsIn = ({ body }: { readonly body: Buffer }) => {
    const { features } = JSON.parse(gunzipSync(body).toString()) as { features: { description: string }[] };
    return [...new Set(features.map(({ description }) => description))].sort();
  };
  for (let round = 0; round < 5; round++) {
    write(featureRow('flag-7', { description: `second ${round}` }));
    const compressing = view.full('gzip');
    write(...rows(`third ${round}`));
    const next = view.full('gzip');
    expect(descriptionsIn(await compressing)).toContain(`second ${round}`);
    expect(descriptionsIn(await next)).toEqual([`third ${round}`]);
  }
});

it('a gateway skips rows of an entity that only newer versions know, and serves those that follow', () => {
  const { store, write } = startStore();
  const view = deliveryView(store, scope);
  const before = store.position;
  write({ entity: 'unheard-of', id: 'x', state: {} } as unknown as DeliveryState, featureRow('after'));
  expect(store.position).toBe(before + 2);
  expect(typesIn(view.since(before))).toEqual(['feature-updated']);
});
