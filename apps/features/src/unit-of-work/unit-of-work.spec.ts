import type { CallRequest } from '@bunting/bus';
import {
  AddProjectEnvironment,
  AddFeatureTag,
  AddStrategy,
  type AnyOperation,
  ArchiveFeature,
  ArchiveProject,
  CreateContextField,
  CreateEnvironment,
  CreateFeature,
  CreateProject,
  CreateSegment,
  CreateStrategyType,
  CreateTag,
  CreateTagType,
  DeleteContextField,
  DeleteEnvironment,
  DeleteProject,
  DeleteSegment,
  DeleteStrategyType,
  DeleteTag,
  DeleteTagType,
  GetFeature,
  ImportFeatures,
  type ImportFeaturesBody,
  ListFeatureTags,
  ListTags,
  MoveFeature,
  PatchStrategy,
  RemoveFeatureTag,
  RemoveProjectEnvironment,
  ReviveFeature,
  UpdateSegment,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature } from '../../test/builders.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { mia, useFeatures } from '../../test/started-features.ts';

describe('unit of work', () => {
  let features: FeaturesWithoutLoops;
  beforeAll(async () => {
    features = await featuresWithoutLoops();
  });
  afterAll(() => features.stop());

  const at = { projectId: 'default', featureName: 'checkout', environment: 'development' };
  let strategyId: string;
  beforeEach(async () => {
    const body = { name: at.featureName, tags: [{ type: 'simple', value: 'old' }] };
    await features.call(CreateFeature, { params: at, body });
    const strategy = await features.call(AddStrategy, { params: at, body: { name: 'default' } });
    strategyId = strategy.id ?? '';
  });
  afterEach(() => features.database.transaction(({ query }) => query('truncate feature, outbox cascade')));

  const retitle = (title: string, timeoutMs = 10_000) =>
    features.call(
      PatchStrategy,
      { params: { ...at, strategyId }, body: [{ op: 'replace', path: '/title', value: title }] },
      mia,
      { timeoutMs },
    );

  it('reads a feature with one statement, whatever its size', async () => {
    const get = () => features.call(GetFeature, { params: at });
    expect(await features.statementsOf(get)).toBe(1);
    for (let nth = 0; nth < 20; nth++) {
      await features.call(AddStrategy, { params: at, body: { name: 'default' } });
    }
    expect(await features.statementsOf(get)).toBe(1);
  });

  it('patches a strategy with four statements, and with three if nothing changes', async () => {
    expect(await features.statementsOf(() => retitle('Half of Oslo'))).toBe(4);
    expect(await features.statementsOf(() => retitle('Half of Oslo'))).toBe(3);
  });

  it('removes a tag with four statements, and with three if nothing changes', async () => {
    const params = { featureName: at.featureName, type: 'simple', value: 'old' };
    const remove = () => features.call(RemoveFeatureTag, { params });
    expect(await features.statementsOf(remove)).toBe(4);
    expect(await features.statementsOf(remove)).toBe(3);
  });

  it('adds a tag with four statements, with three if nothing changes, and with six if no feature has had it', async () => {
    const statements = (value: string) =>
      features.statementsOf(() => features.call(AddFeatureTag, { params: at, body: { type: 'simple', value } }));
    await features.call(CreateTag, { body: { type: 'simple', value: 'known' } });
    expect(await statements('known')).toBe(4);
    expect(await statements('known')).toBe(3);
    expect(await statements('never seen')).toBe(6);
  });

  it('patches a strategy in two round trips, also when nothing changes', async () => {
    expect(await features.roundTripsOf(() => retitle('Half of Oslo'))).toBe(2);
    expect(await features.roundTripsOf(() => retitle('Half of Oslo'))).toBe(2);
  });

  it('adds a tag in two round trips', async () => {
    await features.call(CreateTag, { body: { type: 'simple', value: 'second' } });
    const add = () => features.call(AddFeatureTag, { params: at, body: { type: 'simple', value: 'second' } });
    expect(await features.roundTripsOf(add)).toBe(2);
  });

  it('removes a tag in two round trips', async () => {
    const params = { featureName: at.featureName, type: 'simple', value: 'old' };
    expect(await features.roundTripsOf(() => features.call(RemoveFeatureTag, { params }))).toBe(2);
  });

  it('writes at most 2,200 bytes of WAL for a patch with its positions, and leaves unchanged columns out of its update', async () => {
    const inDatabase = (text: string) => features.database.transaction(({ query }) => query(text));
    await retitle('Half of Oslo');
    await inDatabase(
      'create function refuse() returns trigger language plpgsql as $$ begin raise exception $m$unchanged$m$; end $$',
    );
    await inDatabase('create trigger unchanged before update of tags, links on feature execute function refuse()');
    const written: number[] = [];
    for (const title of ['All of Oslo', 'Some of Oslo', 'None of Oslo', 'Half of Oslo'])
      written.push(await features.walBytesOf(() => retitle(title)));
    // A write also prunes the rows that earlier ones have left on its page, whenever no transaction of other specs needs them any more.
    expect(Math.min(...written)).toBeLessThanOrEqual(2_200);
    expect(await inDatabase(`select from outbox where type = 'feature-strategy-update' and position is null`)).toEqual(
      [],
    );
    await inDatabase('drop function refuse cascade');
  });

  it('lets PostgreSQL plan the statements of edits a few times, and then reuse the plans', async () => {
    const tag = { type: 'simple', value: 'old' };
    for (let nth = 0; nth < 10; nth++) {
      await retitle(`title ${nth}`);
      await features.call(RemoveFeatureTag, { params: { ...at, ...tag } });
      await features.call(AddFeatureTag, { params: at, body: tag });
    }
    // The pool lends the connection that was returned last, so that of the edits is asked.
    const text = 'select statement, custom_plans as plans from pg_prepared_statements';
    const prepared = await features.database.read<{ statement: string; plans: number }>({ text });
    expect(prepared.length).toBeGreaterThan(4);
    expect(prepared.filter(({ plans }) => plans > 5)).toEqual([]);
  });

  it('imports hundreds of features with as many statements as a few', async () => {
    const bodyOf = (count: number, prefix: string): ImportFeaturesBody => {
      const names = Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`);
      const data = { features: names.map((name) => ({ name })), featureStrategies: [], tagTypes: [] };
      return { project: 'default', environment: 'development', data };
    };
    const bringIn = (body: ImportFeaturesBody) => features.call(ImportFeatures, { body });
    const few = await features.statementsOf(() => bringIn(bodyOf(2, 'few')));
    expect(await features.statementsOf(() => bringIn(bodyOf(500, 'many')))).toBe(few);
    expect(await features.statementsOf(() => bringIn(bodyOf(1500, 'more')))).toBe(few + 2);
  });

  it('stores nothing if an event cannot be emitted', async () => {
    const broken =
      "alter table outbox add constraint nothing_is_told check (type not in ('feature', 'segment')) not valid";
    await features.database.transaction(({ query }) => query(broken));
    try {
      await expect(retitle('lost')).rejects.toMatchObject({ kind: 'InternalError' });
      const params = { featureName: at.featureName, type: 'simple', value: 'old' };
      await expect(features.call(RemoveFeatureTag, { params })).rejects.toMatchObject({
        kind: 'InternalError',
      });
      const segment = { name: 'lost', constraints: [] };
      await expect(features.call(CreateSegment, { body: segment })).rejects.toMatchObject({
        kind: 'InternalError',
      });
    } finally {
      await features.database.transaction(({ query }) => query('alter table outbox drop constraint nothing_is_told'));
    }
    const feature = await features.call(GetFeature, { params: at });
    expect(feature.environments?.[0]?.strategies).toMatchObject([{ id: strategyId, title: null }]);
    expect(feature.tags).toEqual([{ type: 'simple', value: 'old' }]);
    const segments = await features.database.read<{ name: string }>({ text: 'select name from segment' });
    expect(segments).toEqual([]);
  });

  it('stores nothing after the deadline of the caller', async () => {
    await features.database.transaction(async ({ query }) => {
      await query('select from feature where name = $1 for update', [at.featureName]);
      await expect(retitle('too late', 50)).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    });
    // The first call was first in the queue for the row lock: once the second is done, the first has ended.
    expect(await retitle('in time')).toMatchObject({ title: 'in time' });
    const emitted = await features.database.read<{ title: string }>({
      text: "select payload -> 'data' ->> 'title' as title from outbox where type = 'feature-strategy-update'",
    });
    expect(emitted).toEqual([{ title: 'in time' }]);
  });
});

describe('serialization failures', () => {
  // Two concurrent transactions: one deletes what the other begins to use. The second waits for the first, and then sees its result.

  const features = useFeatures({ FEATURES_DATABASE_POOL_MAX: '20' });

  const path = { projectId: 'shop', featureName: 'lamp', environment: 'development' };
  let segment: number;
  beforeEach(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
    await features.call(CreateProject, { body: { id: 'yard', name: 'yard' } });
    await features.call(CreateFeature, { params: path, body: { name: 'lamp' } });
    ({ id: segment = 0 } = await features.call(CreateSegment, { body: { name: 'young', constraints: [] } }));
  });
  afterEach(() =>
    features.database.transaction(async ({ query }) => {
      await query('truncate feature, segment, tag cascade');
      await query("delete from project where id <> 'default'");
      await query("delete from context_field where name = 'floor'");
      await query("delete from strategy_type where name = 'moon'");
      await query("delete from tag_type where name = 'room'");
      await query("delete from environment where name = 'attic'");
    }),
  );

  /** The number of calls that wait for a lock: with everything done but emitting, or before. Readers of the outbox may wait for it, too. */
  const waiting = async (): Promise<{ readonly atTheEnd: number; readonly before: number }> => {
    const text = `
    select count(*) filter (where waits_for_outbox) as "atTheEnd", count(*) filter (where not waits_for_outbox) as before
    from pg_stat_activity cross join lateral (
      select exists (
        select from pg_locks where pg_locks.pid = pg_stat_activity.pid and not granted and relation = 'outbox'::regclass
      ) as waits_for_outbox) as waiting
    where datname = current_database() and wait_event_type = 'Lock' and query not like '%outbox_head(%'`;
    const [row] = await features.database.read<{ atTheEnd: number; before: number }>({ text });
    return row ?? { atTheEnd: 0, before: 0 };
  };

  /** Blocks the first transaction before it emits, until the second waits for it; then both end. */
  const together = async (
    first: () => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<readonly PromiseSettledResult<unknown>[]> => {
    let outcomes: Promise<readonly PromiseSettledResult<unknown>[]> = Promise.resolve([]);
    await features.database.transaction(async ({ query }) => {
      await query('lock table outbox in share mode');
      const one = first();
      outcomes = Promise.allSettled([one]);
      await eventually(async () => expect((await waiting()).atTheEnd).toBe(1));
      outcomes = Promise.allSettled([one, second()]);
      await eventually(async () => expect((await waiting()).before).toBe(1));
    });
    return outcomes;
  };

  /** The outcome of a call: its refusal, or `done`. */
  const outcomesOf = (outcomes: readonly PromiseSettledResult<unknown>[]): string[] =>
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : (outcome.reason as { kind: string }).kind));

  interface Case {
    readonly what: string;
    readonly given?: () => Promise<unknown>;
    readonly use: () => Promise<unknown>;
    readonly takeAway: () => Promise<unknown>;
    /** the outcome of the removal after the use, and of the use after the removal */
    readonly late: readonly [takeAway: string, use: string];
  }

  const call = <O extends AnyOperation>(operation: O, request: CallRequest<O>) => features.call(operation, request);
  const use = (more: object) => () => call(AddStrategy, { params: path, body: { name: 'default', ...more } });
  const onFloor = { contextName: 'floor', operator: 'IN', values: ['1'] };
  const yard = { projectId: 'yard' };
  const tag = (type: string) => () => call(AddFeatureTag, { params: path, body: { type, value: 'red' } });

  const cases: readonly Case[] = [
    {
      what: 'a segment that is deleted',
      use: () => use({ segments: [segment] })(),
      takeAway: () => call(DeleteSegment, { params: { id: segment } }),
      late: ['ConflictError', 'NotFoundError'],
    },
    {
      what: 'a segment that becomes one of another project',
      use: () => use({ segments: [segment] })(),
      takeAway: () =>
        call(UpdateSegment, { params: { id: segment }, body: { name: 'young', project: 'yard', constraints: [] } }),
      late: ['ValidationError', 'ValidationError'],
    },
    {
      what: 'a segment of a feature that is revived',
      given: async () => {
        await use({ segments: [segment] })();
        await call(ArchiveFeature, { params: path });
      },
      use: () => call(ReviveFeature, { params: { featureName: 'lamp' } }),
      takeAway: () => call(DeleteSegment, { params: { id: segment } }),
      late: ['ConflictError', 'ConflictError'],
    },
    {
      what: 'a context field that is deleted',
      given: () => call(CreateContextField, { body: { name: 'floor' } }),
      use: use({ constraints: [onFloor] }),
      takeAway: () => call(DeleteContextField, { params: { name: 'floor' } }),
      late: ['ConflictError', 'NotFoundError'],
    },
    {
      what: 'a type of strategies that is deleted',
      given: () => call(CreateStrategyType, { body: { name: 'moon', parameters: [] } }),
      use: use({ name: 'moon' }),
      takeAway: () => call(DeleteStrategyType, { params: { name: 'moon' } }),
      late: ['ConflictError', 'ValidationError'],
    },
    {
      what: 'a tag that is deleted',
      given: () => call(CreateTag, { body: { type: 'simple', value: 'red' } }),
      use: tag('simple'),
      takeAway: () => call(DeleteTag, { params: { type: 'simple', value: 'red' } }),
      late: ['done', 'done'],
    },
    {
      what: 'a type of tags that is deleted',
      given: () => call(CreateTagType, { body: { name: 'room' } }),
      use: tag('room'),
      takeAway: () => call(DeleteTagType, { params: { name: 'room' } }),
      late: ['done', 'ValidationError'],
    },
    {
      what: 'a project for a new feature that is archived',
      use: () => call(CreateFeature, { params: yard, body: { name: 'torch' } }),
      takeAway: () => call(ArchiveProject, { params: yard }),
      late: ['InvalidOperationError', 'NotFoundError'],
    },
    {
      what: 'a project for a new feature that is deleted',
      use: () => call(CreateFeature, { params: yard, body: { name: 'torch' } }),
      takeAway: () => call(DeleteProject, { params: yard }),
      late: ['InvalidOperationError', 'NotFoundError'],
    },
    {
      what: 'a project for a feature that moves there and that is archived',
      use: () => call(MoveFeature, { params: path, body: { newProjectId: 'yard' } }),
      takeAway: () => call(ArchiveProject, { params: yard }),
      late: ['InvalidOperationError', 'NotFoundError'],
    },
    {
      what: 'a project for a feature that is revived and that is archived',
      given: () => features.given(aFeature({ name: 'torch', project: 'yard', archivedAt: '2026-02-01T00:00:00.000Z' })),
      use: () => call(ReviveFeature, { params: { featureName: 'torch' } }),
      takeAway: () => call(ArchiveProject, { params: yard }),
      late: ['InvalidOperationError', 'NotFoundError'],
    },
    {
      what: 'a project for a feature that is revived and that is deleted',
      given: () => features.given(aFeature({ name: 'torch', project: 'yard', archivedAt: '2026-02-01T00:00:00.000Z' })),
      use: () => call(ReviveFeature, { params: { featureName: 'torch' } }),
      takeAway: () => call(DeleteProject, { params: yard }),
      late: ['InvalidOperationError', 'NotFoundError'],
    },
    {
      what: 'an environment for a project that is deleted',
      given: () => call(CreateEnvironment, { body: { name: 'attic', type: 'test' } }),
      use: () => call(AddProjectEnvironment, { params: { projectId: 'shop' }, body: { environment: 'attic' } }),
      takeAway: () => call(DeleteEnvironment, { params: { name: 'attic' } }),
      late: ['done', 'ValidationError'],
    },
    {
      what: 'an environment that is taken from the project',
      use: use({}),
      takeAway: () => call(RemoveProjectEnvironment, { params: path }),
      late: ['done', 'ValidationError'],
    },
  ];

  describe.each(cases)('$what', ({ given, use: uses, takeAway, late }) => {
    beforeEach(async () => {
      await given?.();
    });
    const [takenLate, usedLate] = late;

    it(`cannot be removed concurrently with its first use: ${takenLate}`, async () => {
      expect(outcomesOf(await together(uses, takeAway))).toEqual(['done', takenLate]);
    });

    it(`cannot be used concurrently with its removal: ${usedLate}`, async () => {
      expect(outcomesOf(await together(takeAway, uses))).toEqual(['done', usedLate]);
    });
  });

  it('a name that a concurrent request takes for its feature is refused like any other that is taken', async () => {
    const create = () => call(CreateFeature, { params: path, body: { name: 'torch' } });
    const [first, second] = await together(create, create);
    expect(first).toMatchObject({ status: 'fulfilled' });
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { kind: 'NameExistsError', message: 'A flag with that name already exists' },
    });
  });

  describe('a tag that is put on a feature while it is deleted', () => {
    beforeEach(() => call(CreateTag, { body: { type: 'simple', value: 'red' } }));
    const red = { type: 'simple', value: 'red' };
    const deleted = () => call(DeleteTag, { params: red });
    const found = async () => [
      (await call(ListFeatureTags, { params: path })).tags,
      (await call(ListTags, {})).tags.filter(({ value }) => value === 'red'),
    ];

    it('is on no feature if it was added before its deletion', async () => {
      await together(tag('simple'), deleted);
      expect(await found()).toEqual([[], []]);
    });

    it('is in the catalogue if it was added after its deletion', async () => {
      await together(deleted, tag('simple'));
      expect(await found()).toEqual([[red], [red]]);
    });
  });
});
