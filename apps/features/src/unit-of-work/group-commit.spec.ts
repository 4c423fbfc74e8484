import { type CallContext, traceparentFrom } from '@bunting/bus';
import {
  AddFeatureTag,
  AddStrategy,
  type Caller,
  CreateFeature,
  CreateTag,
  DisableFeature,
  EnableFeature,
  type Feature,
  GetFeature,
  type OutboxEvent,
  PatchStrategy,
  RemoveFeatureTag,
} from '@bunting/contracts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { mia } from '../../test/started-features.ts';

const names = Array.from({ length: 16 }, (_, nth) => `flag-${nth}`);
const inDefault = { projectId: 'default', environment: 'development' };
const otto: Caller = { ...mia, id: 77, name: 'otto@example.com' };

interface StoredEvent {
  readonly name: string;
  readonly traceparent: string;
  readonly payload: OutboxEvent;
}

describe('edits that wait for a transaction', () => {
  let features: FeaturesWithoutLoops;
  const strategyIds = new Map<string, string>();
  beforeAll(async () => {
    features = await featuresWithoutLoops();
  });
  afterAll(() => features.stop());

  const sql = <Row = object>(text: string) => features.database.transaction(({ query }) => query<Row>(text));
  beforeEach(async () => {
    for (const name of names) {
      const params = { ...inDefault, featureName: name };
      await features.call(CreateFeature, { params, body: { name, tags: [{ type: 'simple', value: 'old' }] } });
      strategyIds.set(name, (await features.call(AddStrategy, { params, body: { name: 'default' } })).id ?? '');
    }
    await sql('truncate outbox');
  });
  afterEach(() => sql('truncate feature, outbox cascade'));

  const patch = (name: string, value: unknown = `title of ${name}`, more: Partial<CallContext> = {}, caller = mia) =>
    features.call(
      PatchStrategy,
      {
        params: { ...inDefault, featureName: name, strategyId: strategyIds.get(name) ?? '' },
        body: [{ op: 'replace', path: '/title', value }],
      },
      caller,
      more,
    );
  const titles = async (): Promise<Record<string, string | undefined>> => {
    const all = await Promise.all(
      names.map((featureName) => features.call(GetFeature, { params: { ...inDefault, featureName } })),
    );
    return Object.fromEntries(
      all.map(({ name, environments }: Feature) => [
        name,
        environments?.find((environment) => environment.name === 'development')?.strategies?.[0]?.title ?? undefined,
      ]),
    );
  };
  const titlesBut = (...others: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, others.includes(name) ? undefined : `title of ${name}`]));
  const events = () =>
    sql<StoredEvent>(
      `select payload ->> 'featureName' as name, traceparent, payload from outbox where topic = 'event' order by id`,
    );
  const rejections = async (edits: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(edits)).flatMap((edit) =>
      edit.status === 'rejected' ? [(edit.reason as { kind?: string }).kind] : [],
    );

  it('are stored with as many statements and round trips as one, and each gets its reply', async () => {
    const patchAll = (prefix: string) => Promise.all(names.map((name) => patch(name, `${prefix} ${name}`)));
    expect(await features.statementsOf(() => patchAll('first'))).toBe(4);
    expect(await features.roundTripsOf(() => patchAll('second'))).toBe(2);
    expect((await patchAll('third')).map(({ title }) => title)).toEqual(names.map((name) => `third ${name}`));
    expect(await titles()).toEqual(Object.fromEntries(names.map((name) => [name, `third ${name}`])));
    const remove = (featureName: string) =>
      features.call(RemoveFeatureTag, { params: { featureName, type: 'simple', value: 'old' } });
    expect(await features.statementsOf(() => Promise.all(names.map(remove)))).toBe(4);
    const add = (featureName: string) =>
      features.call(AddFeatureTag, { params: { featureName }, body: { type: 'simple', value: 'old' } });
    expect(await features.statementsOf(() => Promise.all(names.map(add)))).toBe(4);
    const inEnvironment = (operation: typeof EnableFeature | typeof DisableFeature) =>
      Promise.all(names.map((featureName) => features.call(operation, { params: { ...inDefault, featureName } })));
    expect(await features.statementsOf(() => inEnvironment(DisableFeature))).toBe(3);
    expect(await features.statementsOf(() => inEnvironment(EnableFeature))).toBe(4);
    expect(await features.statementsOf(() => inEnvironment(DisableFeature))).toBe(4);
    const addStrategy = (featureName: string) =>
      features.call(AddStrategy, { params: { ...inDefault, featureName }, body: { name: 'default' } });
    expect(await features.statementsOf(() => Promise.all(names.map(addStrategy)))).toBe(4);
  });

  it('of different kinds share a transaction', async () => {
    await features.call(CreateTag, { body: { type: 'simple', value: 'bright' } });
    const add = (featureName: string) =>
      features.call(AddFeatureTag, { params: { featureName }, body: { type: 'simple', value: 'bright' } });
    const remove = (featureName: string) =>
      features.call(RemoveFeatureTag, { params: { featureName, type: 'simple', value: 'old' } });
    const edits = () =>
      Promise.all(names.map((name, nth) => (nth < 5 ? add(name) : nth < 10 ? remove(name) : patch(name))));
    // BEGIN, the features, those with other tags and those with other strategies, COMMIT.
    expect(await features.statementsOf(edits)).toBe(5);
    const stored = await sql<{ tags: string }>(
      `select string_agg(tag ->> 'value', ',' order by tag ->> 'value') as tags
      from feature left join jsonb_array_elements(tags) as tag on true group by name order by substr(name, 6)::int`,
    );
    expect(stored.map(({ tags }) => tags)).toEqual(
      names.map((_, nth) => (nth < 5 ? 'bright,old' : nth < 10 ? null : 'old')),
    );
  });

  it('add tags that another transaction is deleting after it, each once in the catalogue', async () => {
    await features.call(CreateTag, { body: { type: 'simple', value: 'going' } });
    let added: Promise<unknown> = Promise.resolve();
    await features.database.transaction(async ({ query }) => {
      await query(`delete from tag where value = 'going'`);
      const add = (featureName: string) =>
        features.call(AddFeatureTag, { params: { featureName }, body: { type: 'simple', value: 'going' } });
      added = Promise.all(names.map(add));
    });
    await added;
    const catalogue = await sql(`select type, value from tag where value = 'going'`);
    expect(catalogue).toEqual([{ type: 'simple', value: 'going' }]);
    expect((await events()).filter(({ payload }) => payload.type === 'feature-tagged')).toHaveLength(names.length);
    expect((await sql(`select from outbox where type = 'tag-created'`)).length).toBe(2);
  });

  it('tell who has made each of them, in its trace, and do not belong together', async () => {
    const contexts = new Map(names.map((name) => [name, { traceparent: traceparentFrom() }]));
    await Promise.all(
      names.map((name, nth) => patch(name, `title of ${name}`, contexts.get(name), nth % 2 === 0 ? mia : otto)),
    );
    const stored = await events();
    expect(stored.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    for (const { name, traceparent, payload } of stored) {
      expect(traceparent.slice(0, 35)).toBe(contexts.get(name)?.traceparent.slice(0, 35));
      expect(payload.createdBy).toBe(names.indexOf(name) % 2 === 0 ? mia.name : otto.name);
      expect([payload.groupType, payload.groupId]).toEqual([undefined, undefined]);
    }
    const [versions] = await sql<{ states: number; delivered: number }>(
      `select count(*) filter (where topic = 'state')::int as states, count(*) filter (where topic = 'delivery')::int as delivered from outbox`,
    );
    expect(versions?.states).toBe(names.length);
  });

  it('do not fail with one that is refused', async () => {
    const edits = names.map((name, nth) => {
      if (nth === 3) return patch(name, 17);
      return patch(name, `title of ${name}`, nth === 5 ? { ifMatch: ['"another"'] as never } : {});
    });
    expect(await rejections(edits)).toEqual(['ValidationError', 'PreconditionFailed']);
    expect(await titles()).toEqual(titlesBut('flag-3', 'flag-5'));
    expect((await events()).length).toBe(names.length - 2);
  });

  it('do not wait for one whose feature another transaction has locked, and it is stored afterwards', async () => {
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let locked: (() => void) | undefined;
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const locking = features.database.transaction(async ({ query }) => {
      await query(`select from feature where name = 'flag-2' for update`);
      locked?.();
      await released;
    });
    await isLocked;
    const waiting = patch('flag-2');
    await Promise.all(names.filter((name) => name !== 'flag-2').map((name) => patch(name)));
    expect(await titles()).toEqual(titlesBut('flag-2'));
    release?.();
    await Promise.all([locking, waiting]);
    expect(await titles()).toEqual(titlesBut());
  });

  it('of the same feature are all stored', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, nth) => patch('flag-0', `title ${nth}`)));
    const changes = (await events()).map(({ payload }) => [payload.preData, payload.data] as { title?: string }[]);
    expect(changes).toHaveLength(8);
    for (const [nth, [before]] of changes.entries())
      expect(before?.title ?? '').toBe(changes[nth - 1]?.[1]?.title ?? '');
  });

  it('do not fail with one that is cancelled, or whose time is over', async () => {
    const limits: Record<number, Partial<CallContext>> = {
      4: { timeoutMs: 1 },
      9: { signal: AbortSignal.abort() },
    };
    const edits = names.map((name, nth) => patch(name, `title of ${name}`, limits[nth]));
    expect(await rejections(edits)).toEqual(['ServiceUnavailable', 'ServiceUnavailable']);
    expect(await titles()).toEqual(titlesBut('flag-4', 'flag-9'));
  });

  it('do not fail with one that PostgreSQL refuses, and none is stored twice', async () => {
    await sql(`create function refuse() returns trigger language plpgsql as $$ begin
      if new.name = 'flag-6' then raise exception 'no'; end if; return new; end $$`);
    await sql('create trigger refuse before update on feature for each row execute function refuse()');
    try {
      expect(await rejections(names.map((name) => patch(name)))).toEqual(['InternalError']);
      expect(await titles()).toEqual(titlesBut('flag-6'));
      expect((await events()).length).toBe(names.length - 1);
    } finally {
      await sql('drop function refuse cascade');
    }
  });

  it('are not repeated after a lost connection, since they may be stored', async () => {
    await sql(`create function lose() returns trigger language plpgsql as $$ begin
      perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
    await sql('create trigger lose before update on feature for each row execute function lose()');
    try {
      const kinds = await rejections(names.map((name) => patch(name)));
      expect(kinds).toEqual(names.map(() => 'ServiceUnavailable'));
    } finally {
      await sql('drop function lose cascade');
    }
    expect(await events()).toEqual([]);
  });

  it('are not held up by one that refers to very many objects, even if it is refused', async () => {
    const params = { ...inDefault, featureName: 'flag-1', strategyId: strategyIds.get('flag-1') ?? '' };
    const values = Array.from({ length: 5_000 }, (_, nth) => `segment ${nth}`);
    const constraint = { contextName: 'userId', operator: 'IN', values };
    const many = () =>
      features.call(PatchStrategy, { params, body: [{ op: 'replace', path: '/constraints', value: [constraint] }] });
    const others = names.filter((name) => name !== 'flag-1');
    expect(await features.statementsOf(() => Promise.all(others.map((name) => patch(name, 'first'))))).toBe(4);
    expect(await rejections([many()])).toEqual(['ExceedsLimitError']);
    const alone = await features.statementsOf(() => rejections([many()]));
    const together = await features.statementsOf(() => rejections([...others.map((name) => patch(name)), many()]));
    expect(together).toBe(4 + alone);
    expect(await titles()).toEqual(titlesBut('flag-1'));
  });

  it('take one transaction if there is one of them, also if it needs more than its feature', async () => {
    const params = { ...inDefault, featureName: 'flag-1', strategyId: strategyIds.get('flag-1') ?? '' };
    const constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
    const restrict = () =>
      features.call(PatchStrategy, { params, body: [{ op: 'replace', path: '/constraints', value: [constraint] }] });
    // BEGIN, the feature, the context field that it newly uses, what is saved, COMMIT.
    expect(await features.statementsOf(restrict)).toBe(5);
  });

  it('are not held up by a large one, which is stored by itself', async () => {
    const params = { ...inDefault, featureName: 'flag-1', strategyId: strategyIds.get('flag-1') ?? '' };
    const values = Array.from({ length: 250 }, (_, nth) => `${nth} `.padEnd(100, 'x'));
    const large = Array.from({ length: 4 }, () => ({ contextName: 'userId', operator: 'IN', values }));
    const add = () =>
      features.call(PatchStrategy, { params, body: [{ op: 'replace', path: '/constraints', value: large }] });
    await add();
    // Its context field is known now, so that nothing but its size keeps it from the others.
    const body = [{ op: 'replace', path: '/title', value: 'large' }] as const;
    const edits = () =>
      Promise.all([
        ...names.slice(2).map((name) => patch(name)),
        features.call(PatchStrategy, { params, body: [...body] }),
      ]);
    expect(await features.statementsOf(edits)).toBe(8);
  });
});
