import { serve } from '@bunting/bus';
import {
  AddFeatureTag,
  CloneEnvironment,
  CreateFeature,
  CreateProject,
  DeleteEnvironment,
  DeleteProject,
  DeleteTag,
  DeleteTagType,
  type DeliveryState,
  GetTag,
  ListProjects,
  type OutboxEvent,
  RemoveProjectEnvironment,
  ReviveProject,
  type Tag,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { addFeatures, otherServices, startFeatures } from '../../test/started-features.ts';
import type { Feature } from '../features/feature.ts';
import { makeDeferredEdits } from './background.ts';

let features: FeaturesWithoutLoops;
let around: { stop(): Promise<void> };
beforeAll(async () => {
  features = await featuresWithoutLoops();
  around = await serve(features.bus, otherServices);
});
afterAll(async () => {
  await around.stop();
  await features.stop();
});

const sql = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  features.database.transaction(({ query }) => query<Row>(text, values));
afterEach(() => sql('truncate feature, outbox cascade'));

const names = Array.from({ length: 1_300 }, (_, nth) => `many-${String(nth).padStart(4, '0')}`);
const given = (about: (name: string) => Partial<Feature>) =>
  addFeatures(
    features.database,
    names.map((name) => aFeature({ name, project: 'default', ...about(name) })),
  );
const emitted = async <T>(topic: 'event' | 'delivery'): Promise<T[]> =>
  (await sql<{ payload: T }>('select payload from outbox where topic = $1 order by id', [topic])).map(
    ({ payload }) => payload,
  );
/** Three processes. That one ends between two batches is that another one makes the next batch. */
const makeAll = () => Promise.all([1, 2, 3].map(() => makeDeferredEdits(features.transaction)));
const makeOneBatch = () => {
  let batches = 0;
  return makeDeferredEdits(features.transaction, () => batches++ === 0);
};
const countOf = async (condition: string): Promise<number> =>
  (await sql(`select from feature where ${condition}`)).length;

it.each([
  ['a tag', () => features.call(DeleteTag, { params: { type: 'simple', value: 'red' } }), 'tag-deleted'],
  ['a tag type', () => features.call(DeleteTagType, { params: { name: 'simple' } }), 'tag-type-deleted'],
])('takes %s from very many features in batches, and deletes it with the last one', async (_, remove, deleted) => {
  await sql("insert into tag_type (name) values ('simple') on conflict do nothing");
  await sql("insert into tag values ('simple', 'red')");
  const red: Tag = { type: 'simple', value: 'red' };
  await given(() => ({ tags: [red] }));

  await remove();
  expect(await countOf("tags <> '[]'")).toBe(800);
  await makeOneBatch();
  expect(await countOf("tags <> '[]'")).toBe(300);
  await features.call(GetTag, { params: red });
  // As if it had come just before the deletion.
  await features.call(AddFeatureTag, { params: { featureName: 'many-0007' }, body: red });

  await makeAll();
  expect(await countOf("tags <> '[]'")).toBe(0);
  await expect(features.call(GetTag, { params: red })).rejects.toMatchObject({ kind: 'NotFoundError' });
  const events = await emitted<OutboxEvent>('event');
  const untagged = events.filter(({ type }) => type === 'feature-untagged');
  expect(new Set(untagged.map(({ featureName }) => featureName))).toEqual(new Set(names));
  expect(untagged).toHaveLength(1_301);
  expect(events.at(-1)?.type).toBe(deleted);
  expect(new Set(events.map(({ createdBy }) => createdBy))).toEqual(new Set(['mia']));
  const last = new Map((await emitted<DeliveryState>('delivery')).map(({ id, state }) => [id, state]));
  for (const name of names) expect(last.get(name)).toMatchObject({ tags: [] });
});

it('copies the settings of very many features for a clone, and keeps what somebody has set in it meanwhile', async () => {
  await given((name) => ({
    environments: { development: { enabled: name.endsWith('0'), strategies: [aStrategy({ id: name })], variants: [] } },
  }));
  const clone = await features.call(CloneEnvironment, {
    params: { name: 'development' },
    body: { name: 'lab', clonePermissions: false },
  });
  expect(clone).toMatchObject({ name: 'lab', enabledToggleCount: 130 });
  expect(await countOf("environments ? 'lab'")).toBe(500);
  const own = JSON.stringify({ enabled: true, strategies: [], variants: [] });
  await sql(
    `update feature set environments = environments || jsonb_build_object('lab', $1::jsonb) where name = 'many-1234'`,
    [own],
  );
  await features.call(CreateFeature, { params: { projectId: 'default' }, body: { name: 'new' } });
  await sql(
    `update feature set environments = (select environments from feature where name = 'many-0000') - 'lab' where name = 'new'`,
  );
  const busy = { kind: 'ServiceUnavailable', message: /still being cloned/ };
  for (const name of ['lab', 'development']) {
    await expect(features.call(DeleteEnvironment, { params: { name } })).rejects.toMatchObject(busy);
    const params = { projectId: 'default', environment: name };
    await expect(features.call(RemoveProjectEnvironment, { params })).rejects.toMatchObject(busy);
  }

  await makeOneBatch();
  expect(await countOf("environments ? 'lab'")).toBe(1_001);
  await makeAll();
  expect(await countOf("environments ? 'lab'")).toBe(1_300);
  const [row] = await sql<{ ids: number; lab: unknown }>(
    `select (select count(distinct id)::int from feature, unnest(strategy_ids) as id where name <> 'new') as ids,
      environments -> 'lab' as lab from feature where name = 'many-1234'`,
  );
  expect(row).toEqual({ ids: 2_599, lab: JSON.parse(own) });
  const events = await emitted<OutboxEvent>('event');
  const ofType = (wanted: string) => events.filter(({ type }) => type === wanted);
  expect(ofType('feature-strategy-add')).toHaveLength(1_299);
  expect(ofType('feature-environment-enabled')).toHaveLength(130);
  for (const { createdBy, environment } of ofType('feature-strategy-add'))
    expect([createdBy, environment]).toEqual(['mia', 'lab']);
});

it('deletes a project with very many archived features in batches, and nobody revives it meanwhile', async () => {
  const barn = { projectId: 'barn' };
  await features.call(CreateProject, { body: { id: 'barn', name: 'Barn' } });
  await given(() => ({ project: 'barn', archivedAt: '2026-02-01T00:00:00.000Z' }));
  await sql('truncate outbox');

  await features.call(DeleteProject, { params: barn });
  expect(await countOf("project = 'barn'")).toBe(800);
  const listed = async () => (await features.call(ListProjects, {})).projects.map(({ id }) => id);
  expect(await listed()).not.toContain('barn');
  await expect(features.call(CreateFeature, { params: barn, body: { name: 'late' } })).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
  await expect(features.call(ReviveProject, { params: barn })).rejects.toMatchObject({ kind: 'ServiceUnavailable' });

  await makeOneBatch();
  expect(await countOf("project = 'barn'")).toBe(300);
  await makeAll();
  const events = await emitted<OutboxEvent>('event');
  expect(events.map(({ type }) => type)).toEqual([...names.map(() => 'feature-deleted'), 'project-deleted']);
  expect(new Set(events.map(({ createdBy }) => createdBy))).toEqual(new Set(['mia']));
  await features.call(CreateProject, { body: { id: 'barn', name: 'Barn' } });
});

it('follows the reply, and a process that has ended', async () => {
  const service = await startFeatures({ FEATURES_HOUSEKEEPING_INTERVAL_MS: '50' });
  try {
    const tagged = (value: string) =>
      names.map((name) =>
        aFeature({ name: `${value}-${name}`, project: 'default', tags: [{ type: 'simple', value }] }),
      );
    await service.given(...tagged('red'), ...tagged('blue'));
    await service.database.transaction(({ query }) =>
      query(`with added as (insert into tag values ('simple', 'red'), ('simple', 'blue'))
        insert into deferred_edit (kind, subject, details, caller)
        values ('delete-tag', 'simple blue', '{"kind":"delete-tag","type":"simple","value":"blue"}', '{"id":7,"name":"ada"}')`),
    );
    await service.call(DeleteTag, { params: { type: 'simple', value: 'red' } });
    await eventually(async () => {
      const deleted = (await service.emittedEvents()).filter(({ type }) => type === 'tag-deleted');
      expect(deleted.map(({ createdBy, data }) => [createdBy, data]).toSorted()).toEqual([
        ['ada', { type: 'simple', value: 'blue' }],
        ['mia', { type: 'simple', value: 'red' }],
      ]);
    });
    expect((await service.get('red-many-1299')).tags).toEqual([]);
  } finally {
    await service.stop();
  }
});
