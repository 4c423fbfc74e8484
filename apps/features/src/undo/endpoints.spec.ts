import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  AddStrategy,
  ArchiveFeature,
  CreateSegment,
  DeleteSegment,
  DisableFeature,
  EnableFeature,
  type Event,
  GetEventUndo,
  UpdateFeature,
  UpdateFeatureTags,
  UpdateSegment,
  UpdateStrategy,
} from '@bunting/contracts';
import { mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;

/** The emitted events as the event log has them, the newest first. */
const log = async (): Promise<Event[]> =>
  (await features.emittedEvents()).map((event, index) => ({ ...event, id: index + 1 }) as Event).toReversed();

/** Whether a filter of the event log, `IS:a` or `IS_ANY_OF:a,b`, selects a value. */
const selects = (filter: string | undefined, value: unknown): boolean =>
  filter === undefined ||
  filter
    .slice(filter.indexOf(':') + 1)
    .split(',')
    .includes(String(value));

beforeAll(async () => {
  features = await startFeatures({}, undefined, undefined, async ({ id, type, feature, environment }) =>
    (await log()).filter(
      (event) =>
        selects(id, event.id) &&
        selects(type, event.type) &&
        selects(feature, event.featureName) &&
        selects(environment, event.environment),
    ),
  );
});
afterAll(() => features.stop());

const ofFeature = (featureName: string) => ({ projectId: 'default', featureName });
const inDevelopment = (featureName: string) => ({ ...ofFeature(featureName), environment: 'development' });
const rollout = (percentage: string) => ({
  name: 'flexibleRollout',
  parameters: { rollout: percentage, stickiness: 'default', groupId: 'g' },
});

/** What undoes an event of a type: the newest, or an earlier one. */
const undoOf = async (type: Event['type'], caller = mia, earlier = 0) => {
  const id = (await log()).filter((event) => event.type === type)[earlier]?.id ?? 0;
  return features.call(GetEventUndo, { params: { id } }, caller);
};

it('is the changes of the current state, each with the entity tag that it must still find', async () => {
  await features.create('lamp');
  const params = inDevelopment('lamp');
  const { id: strategyId = '' } = await features.call(AddStrategy, { params, body: rollout('10') });
  await features.call(UpdateStrategy, { params: { ...params, strategyId }, body: rollout('40') });
  const { state, steps, changes } = await undoOf('feature-strategy-update');
  expect({ state, changes }).toEqual({
    state: 'possible',
    changes: [{ path: ['parameters', 'rollout'], before: '40', after: '10' }],
  });
  const [step] = steps;
  expect(step).toMatchObject({ kind: 'change', environment: 'development', change: { action: 'updateStrategy' } });
  const body = rollout('10');
  const write = (ifMatch: string | null | undefined) =>
    features.call(UpdateStrategy, { params: { ...params, strategyId }, body }, mia, {
      ...(ifMatch != null && { ifMatch: [ifMatch.slice(1, -1)] }),
    });
  await write(step?.ifMatch);
  // The strategy is another one now.
  await expect(write(step?.ifMatch)).rejects.toMatchObject({ kind: 'PreconditionFailed' });
  expect(await undoOf('feature-strategy-add')).toMatchObject({ state: 'possible' });
});

it('is a request where a change request has no such change, with the tag of the feature where its operation takes one', async () => {
  await features.create('door');
  await features.call(UpdateFeature, { params: ofFeature('door'), body: { description: 'Opens' } });
  expect((await undoOf('feature-metadata-updated')).steps).toEqual([
    {
      kind: 'request',
      operationId: 'updateFeature',
      params: ofFeature('door'),
      body: { description: null },
      ifMatch: expect.stringMatching(/^"\d+"$/) as string,
    },
  ]);
  const tag = { type: 'simple', value: 'web' };
  await features.call(UpdateFeatureTags, {
    params: { featureName: 'door' },
    body: { addedTags: [tag], removedTags: [] },
  });
  expect((await undoOf('feature-tagged')).steps).toMatchObject([
    { operationId: 'updateTags', body: { addedTags: [], removedTags: [tag] }, ifMatch: expect.any(String) as string },
  ]);
  await features.call(ArchiveFeature, { params: ofFeature('door') });
  expect((await undoOf('feature-archived')).steps).toEqual([
    { kind: 'request', operationId: 'reviveFeature', params: ofFeature('door'), body: null, ifMatch: null },
  ]);
  expect(await undoOf('feature-tagged')).toMatchObject({ state: 'refused', reason: 'flagArchived' });
});

it('changes or creates a segment as it was', async () => {
  const body = { name: 'beta', constraints: [] };
  const { id } = await features.call(CreateSegment, { body });
  await features.call(UpdateSegment, { params: { id }, body: { ...body, description: 'testers' } });
  expect((await undoOf('segment-updated')).steps).toMatchObject([
    {
      kind: 'change',
      environment: null,
      change: { action: 'updateSegment', payload: { id, name: 'beta', description: null } },
      ifMatch: expect.any(String) as string,
    },
  ]);
  await features.call(DeleteSegment, { params: { id } });
  expect((await undoOf('segment-deleted')).steps).toMatchObject([
    { kind: 'request', operationId: 'createSegment', body: { name: 'beta', description: 'testers' }, ifMatch: null },
  ]);
});

it('is refused where a later event decided the same again', async () => {
  await features.create('bell');
  const params = inDevelopment('bell');
  await features.call(AddStrategy, { params, body: rollout('10') });
  await features.call(EnableFeature, { params });
  expect(await undoOf('feature-environment-enabled')).toMatchObject({
    state: 'possible',
    steps: [
      { change: { action: 'updateEnabled', payload: { enabled: false } }, ifMatch: expect.any(String) as string },
    ],
  });
  expect(await undoOf('feature-created')).toMatchObject({ state: 'refused', reason: 'flagOn' });
  await features.call(DisableFeature, { params });
  await features.call(EnableFeature, { params });
  expect(await undoOf('feature-environment-enabled', mia, 1)).toMatchObject({ state: 'refused', reason: 'setAgain' });
});

it('is not told of events that are not found, nor of features of projects that the caller may not see', async () => {
  await features.create('gate');
  await expect(features.call(GetEventUndo, { params: { id: 999_999 } })).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'There is no event 999999.',
  });
  const stranger = { ...mia, grants: [], hiddenProjects: ['default'] };
  expect(await undoOf('feature-created', stranger)).toMatchObject({ state: 'refused', reason: 'flagGone', steps: [] });
});
