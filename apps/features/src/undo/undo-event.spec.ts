import { describe, expect, it } from 'vitest';
import {
  type Event,
  type EventType,
  eventTypes,
  type Feature,
  type FeatureStrategy,
  type Segment,
  undoOperations,
} from '@bunting/contracts';
import { type CurrentState, eventGroupOf, setsSameProperty, undoEvent } from './undo-event.ts';

const strategy: FeatureStrategy = {
  id: 's1',
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  sortOrder: 0,
  parameters: { rollout: '10', stickiness: 'default', groupId: 'lamp' },
  constraints: [],
  segments: [],
  variants: [],
};
const second: FeatureStrategy = { ...strategy, id: 's2', sortOrder: 1 };
const rollout = (percentage: string, more: object = {}): FeatureStrategy => ({
  ...strategy,
  ...more,
  parameters: { ...strategy.parameters, rollout: percentage },
});

const anEvent = (type: EventType, more: Partial<Event> = {}): Event => ({
  id: 9,
  createdAt: '2026-11-22T10:00:00.000Z',
  createdBy: 'ada',
  type,
  project: 'shop',
  featureName: 'lamp',
  ...more,
});
const inProduction = (type: EventType, more: Partial<Event> = {}) =>
  anEvent(type, { environment: 'production', ...more });

type EnvironmentAbout = Partial<NonNullable<Feature['environments']>[number]>;
const aState = (
  feature: Partial<Feature> = {},
  production: EnvironmentAbout = {},
  more: Partial<CurrentState> = {},
) => ({
  feature: {
    name: 'lamp',
    project: 'shop',
    description: null,
    type: 'release',
    environments: [{ name: 'production', enabled: false, strategies: [strategy], variants: [], ...production }],
    ...feature,
  } as Feature,
  isArchived: false,
  segments: [],
  earlierDependency: undefined,
  isSetAgain: false,
  ...more,
});
const withoutFlag = (isArchived: boolean): CurrentState => ({ ...aState(), feature: undefined, isArchived });

const change = (action: string, payload?: unknown) => ({
  kind: 'change',
  environment: 'production',
  change: { action, feature: 'lamp', ...(payload === undefined ? {} : { payload }) },
});
const everywhere = (action: string, payload?: unknown) => ({ ...change(action, payload), environment: null });
const request = (operationId: string, params: object, body: unknown) => ({
  kind: 'request',
  operationId,
  params,
  body,
});
const ofLamp = { projectId: 'shop', featureName: 'lamp' };
const segment: Segment = { id: 4, name: 'beta', description: null, project: 'shop', constraints: [] };
const two = [
  { name: 'a', weight: 500, weightType: 'variable' as const, stickiness: 'default' },
  { name: 'b', weight: 500, weightType: 'variable' as const, stickiness: 'default' },
];
const one = [{ ...two[0], weight: 1000 }] as typeof two;

/** The steps of an undo that is possible; else its plan. */
const stepsOf = (event: Event, state: CurrentState) => {
  const plan = undoEvent(event, state);
  return plan.state === 'possible' ? plan.steps : plan;
};

describe('undoing an event', () => {
  const metadata = { name: 'lamp', description: 'old', type: 'release', stale: false, impressionData: false };
  it.each<[string, Event, CurrentState, unknown]>([
    [
      'turns a flag off that was turned on',
      inProduction('feature-environment-enabled'),
      aState({}, { enabled: true }),
      [change('updateEnabled', { enabled: false })],
    ],
    [
      'turns a flag on that was turned off',
      inProduction('feature-environment-disabled'),
      aState(),
      [change('updateEnabled', { enabled: true })],
    ],
    [
      'removes a strategy that was added',
      inProduction('feature-strategy-add', { data: strategy }),
      aState(),
      [change('deleteStrategy', { id: 's1' })],
    ],
    [
      'gives a strategy its earlier fields',
      inProduction('feature-strategy-update', { preData: rollout('10'), data: rollout('50') }),
      aState({}, { strategies: [rollout('50')] }),
      [change('updateStrategy', expect.objectContaining({ id: 's1', parameters: strategy.parameters }))],
    ],
    [
      'puts strategies into their earlier order',
      inProduction('strategy-order-changed', {
        preData: { strategyIds: ['s1', 's2'] },
        data: { strategyIds: ['s2', 's1'] },
      }),
      aState({}, { strategies: [second, strategy] }),
      [
        change('reorderStrategy', [
          { id: 's1', sortOrder: 0 },
          { id: 's2', sortOrder: 1 },
        ]),
      ],
    ],
    [
      'sets the earlier variants',
      inProduction('feature-environment-variants-updated', { preData: { variants: one }, data: { variants: two } }),
      aState({}, { variants: two }),
      [change('patchVariant', { variants: one })],
    ],
    [
      'removes a tag that was added',
      anEvent('feature-tagged', { data: { type: 'simple', value: 'web' } }),
      aState({ tags: [{ type: 'simple', value: 'web' }] }),
      [
        request(
          'updateTags',
          { featureName: 'lamp' },
          { addedTags: [], removedTags: [{ type: 'simple', value: 'web' }] },
        ),
      ],
    ],
    [
      'adds a tag that was removed',
      anEvent('feature-untagged', { preData: { type: 'simple', value: 'web' } }),
      aState(),
      [
        request(
          'updateTags',
          { featureName: 'lamp' },
          { addedTags: [{ type: 'simple', value: 'web' }], removedTags: [] },
        ),
      ],
    ],
    [
      'gives a flag its earlier details, and only those that changed',
      anEvent('feature-metadata-updated', { preData: metadata, data: { ...metadata, description: 'new' } }),
      aState({ description: 'new', stale: true }),
      [request('updateFeature', ofLamp, { description: 'old' })],
    ],
    [
      'marks as not stale',
      anEvent('feature-stale-on'),
      aState({ stale: true }),
      [request('staleFeatures', { projectId: 'shop' }, { features: ['lamp'], stale: false })],
    ],
    [
      'marks as stale',
      anEvent('feature-stale-off'),
      aState(),
      [request('staleFeatures', { projectId: 'shop' }, { features: ['lamp'], stale: true })],
    ],
    [
      'revives a flag that was archived',
      anEvent('feature-archived'),
      withoutFlag(true),
      [request('reviveFeature', ofLamp, null)],
    ],
    ['archives a flag that was revived', anEvent('feature-revived'), aState(), [everywhere('archiveFeature')]],
    ['archives a flag that was created', anEvent('feature-created'), aState(), [everywhere('archiveFeature')]],
    [
      'removes a dependency that was added',
      anEvent('feature-dependency-added', { data: { feature: 'socket', enabled: true, variants: [] } }),
      aState({ dependencies: [{ feature: 'socket' }] }),
      [everywhere('deleteDependency')],
    ],
    [
      'adds a dependency that was removed, as it was',
      anEvent('feature-dependencies-removed'),
      aState({}, {}, { earlierDependency: { feature: 'socket', enabled: false, variants: [] } }),
      [everywhere('addDependency', { feature: 'socket', enabled: false, variants: [] })],
    ],
    [
      'moves a flag back',
      anEvent('feature-project-change', { data: { oldProject: 'yard', newProject: 'shop' } }),
      aState(),
      [request('changeProject', ofLamp, { newProjectId: 'yard' })],
    ],
    [
      'gives a segment its earlier fields',
      anEvent('segment-updated', { preData: segment, data: { ...segment, description: 'x' } }),
      aState({}, {}, { segments: [{ ...segment, description: 'x' }] }),
      [
        {
          kind: 'change',
          environment: null,
          change: {
            action: 'updateSegment',
            payload: { id: 4, name: 'beta', description: null, project: 'shop', constraints: [] },
          },
        },
      ],
    ],
    [
      'deletes a segment that was created',
      anEvent('segment-created', { data: segment }),
      aState({}, {}, { segments: [segment] }),
      [{ kind: 'change', environment: null, change: { action: 'deleteSegment', payload: { id: 4 } } }],
    ],
    [
      'creates a segment that was deleted',
      anEvent('segment-deleted', { preData: segment }),
      aState(),
      [request('createSegment', {}, { name: 'beta', description: null, project: 'shop', constraints: [] })],
    ],
  ])('%s', (_title, event, state, steps) => {
    expect(stepsOf(event, state)).toEqual(steps);
  });

  it('adds a strategy that was removed at its place, and finds it when it was added again', () => {
    const event = inProduction('feature-strategy-remove', { preData: rollout('30', { sortOrder: 3 }) });
    const { id: _, ...fields } = rollout('30', { sortOrder: 3 });
    expect(stepsOf(event, aState({}, { strategies: [second] }))).toEqual([change('addStrategy', fields)]);
    expect(undoEvent(event, aState({}, { strategies: [{ ...fields, id: 'another' }] }))).toMatchObject({
      state: 'done',
    });
  });

  it('keeps what others changed in other fields since', () => {
    const event = inProduction('feature-strategy-update', {
      preData: rollout('10'),
      data: rollout('50', { bypassedChangeRequest: true }),
    });
    const plan = undoEvent(event, aState({}, { strategies: [rollout('50', { title: 'Later' })] }));
    expect(plan).toMatchObject({
      steps: [{ change: { payload: { title: 'Later', parameters: { rollout: '10' } } } }],
      changes: [{ path: ['parameters', 'rollout'], before: '50', after: '10' }],
    });
  });

  it('sets the variants of every environment where the event was about all, and leaves those that have them already', () => {
    const environments = ['development', 'staging', 'production'].map((name) => ({
      name,
      enabled: true,
      strategies: [],
      variants: name === 'staging' ? one : two,
    }));
    const event = anEvent('feature-variants-updated', { preData: { variants: one }, data: { variants: two } });
    expect(stepsOf(event, aState({ environments }))).toMatchObject([
      { environment: 'development', change: { payload: { variants: one } } },
      { environment: 'production', change: { payload: { variants: one } } },
    ]);
  });

  it.each<[string, Event, CurrentState, object]>([
    [
      'a field that was changed again',
      inProduction('feature-strategy-update', { preData: rollout('10'), data: rollout('50') }),
      aState({}, { strategies: [rollout('70')] }),
      { state: 'changed', conflicts: [{ path: ['parameters', 'rollout'], left: '50', now: '70' }] },
    ],
    [
      'an added strategy that was edited since',
      inProduction('feature-strategy-add', { data: strategy }),
      aState({}, { strategies: [rollout('70')] }),
      { state: 'changed', conflicts: [{ path: ['parameters', 'rollout'], left: '10', now: '70' }] },
    ],
    [
      'a description that was changed again',
      anEvent('feature-metadata-updated', { preData: metadata, data: { ...metadata, description: 'new' } }),
      aState({ description: 'newest' }),
      { state: 'changed', conflicts: [{ path: ['description'], left: 'new', now: 'newest' }] },
    ],
    [
      'variants that were changed again',
      inProduction('feature-environment-variants-updated', { preData: { variants: one }, data: { variants: two } }),
      aState({}, { variants: two.map((variant, at) => ({ ...variant, weight: at === 0 ? 300 : 700 })) }),
      { state: 'changed' },
    ],
    [
      'a strategy that is gone',
      inProduction('feature-strategy-update', { preData: rollout('10'), data: rollout('50') }),
      aState({}, { strategies: [] }),
      { state: 'refused', reason: 'strategyGone' },
    ],
    [
      'turning on without any strategy, which would be for everybody',
      inProduction('feature-environment-disabled'),
      aState({}, { strategies: [{ ...strategy, disabled: true }] }),
      { state: 'refused', reason: 'noStrategy' },
    ],
    [
      'an order of other strategies',
      inProduction('strategy-order-changed', {
        preData: { strategyIds: ['s1', 's2'] },
        data: { strategyIds: ['s2', 's1'] },
      }),
      aState(),
      { state: 'refused', reason: 'strategiesDiffer' },
    ],
    ['an archived flag', anEvent('feature-stale-on'), withoutFlag(true), { state: 'refused', reason: 'flagArchived' }],
    ['a flag that is gone', anEvent('feature-stale-on'), withoutFlag(false), { state: 'refused', reason: 'flagGone' }],
    ['a deleted flag', anEvent('feature-archived'), withoutFlag(false), { state: 'refused', reason: 'flagDeleted' }],
    [
      'an environment that is gone',
      anEvent('feature-environment-enabled', { environment: 'staging' }),
      aState(),
      { state: 'refused', reason: 'environmentGone' },
    ],
    [
      'a dependency that was replaced',
      anEvent('feature-dependency-added', { data: { feature: 'socket' } }),
      aState({ dependencies: [{ feature: 'plug' }] }),
      { state: 'refused', reason: 'dependencyChanged' },
    ],
    [
      'a dependency of which no event says what it was',
      anEvent('feature-dependency-removed', { data: { feature: 'socket' } }),
      aState(),
      { state: 'refused', reason: 'dependencyUnknown' },
    ],
    [
      'the name of a deleted segment that is taken',
      anEvent('segment-deleted', { preData: segment }),
      aState({}, {}, { segments: [{ ...segment, id: 5, description: 'other' }] }),
      { state: 'refused', reason: 'segmentExists' },
    ],
    [
      'the deletion of a segment whose list is gone',
      anEvent('segment-deleted', { preData: { ...segment, list: { contextName: 'userId', size: 2, version: 3 } } }),
      aState(),
      { state: 'refused', reason: 'segmentHadList' },
    ],
    [
      'a changed list, whose ids are not in the event',
      anEvent('segment-updated', {
        preData: { ...segment, list: { contextName: 'userId', size: 2, version: 3 } },
        data: {
          ...segment,
          list: { contextName: 'userId', size: 3, version: 4 },
          listChange: { added: 1, removed: 0 },
        },
      }),
      aState({}, {}, { segments: [{ ...segment, list: { contextName: 'userId', size: 3, version: 4 } }] }),
      { state: 'refused', reason: 'segmentListChanged' },
    ],
    [
      'a move from a project that the user may not see',
      anEvent('feature-project-change', { data: { oldProject: null, newProject: 'shop' } }),
      aState(),
      { state: 'refused', reason: 'unknownBefore' },
    ],
    [
      'an event from whose data the event log has left out a secret',
      inProduction('feature-strategy-remove', {
        preData: { ...second, parameters: { ...second.parameters, token: '[redacted]' } },
      }),
      aState(),
      { state: 'refused', reason: 'redacted' },
    ],
    [
      'an event that changed only fields that this console does not know',
      anEvent('feature-metadata-updated', {
        preData: { ...metadata, owner: 'mia' },
        data: { ...metadata, owner: 'lee' },
      } as Partial<Event>),
      aState(),
      { state: 'refused', reason: 'unsupported' },
    ],
    [
      'a switch that was set again since',
      inProduction('feature-environment-enabled'),
      aState({}, { enabled: true }, { isSetAgain: true }),
      { state: 'refused', reason: 'setAgain' },
    ],
    [
      'archiving a flag that is on',
      anEvent('feature-created'),
      aState({}, { enabled: true }),
      { state: 'refused', reason: 'flagOn' },
    ],
    ['an event of another kind', anEvent('user-created'), aState(), { state: 'refused', reason: 'unsupported' }],
  ])('refuses %s, and says why', (_title, event, state, plan) => {
    expect(undoEvent(event, state)).toMatchObject(plan);
  });

  it('takes an event for a later decision of the same when it is about the same tag, or changed whether the flag is stale', () => {
    const tag = { type: 'simple', value: 'web' };
    const tagged = anEvent('feature-tagged', { data: tag });
    expect(setsSameProperty(tagged, anEvent('feature-untagged', { preData: tag }))).toBe(true);
    expect(setsSameProperty(tagged, anEvent('feature-untagged', { preData: { ...tag, value: 'app' } }))).toBe(false);
    const stale = anEvent('feature-stale-on');
    expect(setsSameProperty(stale, anEvent('feature-stale-off'))).toBe(true);
    const edited = (data: Record<string, unknown>) => anEvent('feature-metadata-updated', { preData: metadata, data });
    expect(setsSameProperty(stale, edited({ ...metadata, stale: true }))).toBe(true);
    expect(setsSameProperty(stale, edited({ ...metadata, description: 'new' }))).toBe(false);
    for (const type of eventTypes)
      if (eventGroupOf(type).length > 0) expect(Object.hasOwn(undoOperations, type)).toBe(true);
  });

  it.each<[string, Event, CurrentState]>([
    ['turned on', inProduction('feature-environment-enabled'), aState()],
    ['turned off', inProduction('feature-environment-disabled'), aState({}, { enabled: true })],
    ['an added strategy', inProduction('feature-strategy-add', { data: second }), aState()],
    [
      'an edited strategy',
      inProduction('feature-strategy-update', { preData: strategy, data: rollout('50') }),
      aState(),
    ],
    ['an added tag', anEvent('feature-tagged', { data: { type: 'simple', value: 'x' } }), aState()],
    ['an archived flag', anEvent('feature-archived'), aState()],
    ['a revived flag', anEvent('feature-revived'), withoutFlag(true)],
    ['a created segment', anEvent('segment-created', { data: segment }), aState()],
  ])('has nothing to do for %s that is as before again', (_title, event, state) => {
    expect(undoEvent(event, state)).toMatchObject({ state: 'done' });
  });

  it('survives every type of event with data that says nothing', () => {
    for (const type of eventTypes) {
      for (const data of [null, undefined, {}, { id: 7, variants: 'x', strategyIds: [1] }]) {
        const more = { environment: 'production', data, preData: data } as Partial<Event>;
        const plan = undoEvent(anEvent(type, more), aState());
        expect(plan.state === 'refused' && plan.reason === 'unsupported').toBe(!Object.hasOwn(undoOperations, type));
      }
    }
  });
});

it('a created segment that has got a list since is not deleted', () => {
  const list = { contextName: 'userId', size: 2, version: 1 };
  const state = aState({}, {}, { segments: [{ ...segment, list }] });
  expect(undoEvent(anEvent('segment-created', { data: segment }), state)).toMatchObject({
    state: 'changed',
    steps: [],
    conflicts: [{ path: ['list'] }],
  });
});
