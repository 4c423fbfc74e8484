import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CallRequest } from '@bunting/bus';
import {
  AddDependency,
  AddFeatureLink,
  AddFavoriteFeature,
  AddFavoriteProject,
  AddFeatureTag,
  AddProjectEnvironment,
  AddStrategy,
  type AnyOperation,
  ArchiveFeature,
  ArchiveFeatures,
  ArchiveProject,
  CloneEnvironment,
  CloneFeature,
  CompleteFeature,
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
  DeleteApplication,
  DeleteFeature,
  DeleteFeatures,
  DeleteProject,
  DeleteSegment,
  DeleteStrategy,
  DeleteStrategyType,
  DeleteTag,
  DeleteTagType,
  DeprecateStrategyType,
  DescribeApplication,
  DisableEnvironment,
  DisableEnvironmentsInBulk,
  EnableEnvironment,
  EnableEnvironmentsInBulk,
  type EventType,
  eventTypes,
  ExportFeatures,
  ImportFeatures,
  ListSegments,
  MoveFeature,
  PatchEnvironmentVariants,
  PatchFeature,
  PatchFeatureVariants,
  PatchStrategy,
  ReactivateStrategyType,
  operations,
  type RecordedEvent,
  Refusal,
  RegisterApplication,
  RegisterFrontendApplication,
  RemoveDependencies,
  RemoveDependency,
  RemoveFavoriteFeature,
  RemoveFavoriteProject,
  RemoveFeatureLink,
  RemoveFeatureTag,
  RemoveLegalValue,
  RemoveProjectEnvironment,
  type ReplyOf,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportMetricsInBulk,
  ReviveFeature,
  ReviveFeatures,
  ReviveProject,
  serviceOf,
  SetDefaultStrategy,
  SetEnvironmentOrder,
  SetEnvironmentVariants,
  SetFeatureTypeLifetime,
  SetFeatureVariants,
  SetLegalValue,
  SetStale,
  SetStrategyOrder,
  SetStrategySegments,
  SetVariantsInBatch,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  systemCaller,
  TagFeaturesInBulk,
  UncompleteFeature,
  UpdateContextField,
  UpdateEnvironment,
  UpdateFeature,
  UpdateFeatureLink,
  UpdateFeatureTags,
  UpdateProject,
  UpdateProjectSettings,
  UpdateSegment,
  UpdateStrategy,
  UpdateStrategyType,
  UpdateTagType,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { aFeature, aStrategy, type FeatureAbout } from '../../test/builders.ts';
import { type TestUnitOfWork, testUnitOfWork } from '../../test/features-unit-of-work.ts';
import { mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';
import type { FeatureInEnvironment } from '../domain/features/feature.ts';
import { storedFeature } from '../domain/features/feature-rules.ts';
import { runHousekeeping } from '../housekeeping/housekeeping.ts';

// What each write tells: one row for each, with every event in full, in its order.

/** An event as a row of the catalogue says it: what it leaves out is null, and there are no tags. */
type Told = Partial<RecordedEvent> & Pick<RecordedEvent, 'type'>;

interface Row {
  readonly write: string;
  /** what there is before */
  readonly given?: () => Promise<unknown>;
  readonly asks: () => Promise<unknown>;
  readonly tells: readonly Told[];
  /**
   * what the same write does when it comes again: it answers and tells nothing, it is refused and tells nothing, or it makes
   * another one
   */
  readonly again: 'is silent' | 'is refused' | 'tells again';
  /** who is told to have done it, where it is not who asked */
  readonly by?: { readonly name: string; readonly id: number };
}

let features: StartedFeatures;
let house: TestUnitOfWork;
beforeAll(async () => {
  features = await startFeatures();
  house = await testUnitOfWork(features.url);
  for (const id of ['shop', 'yard']) await ask(CreateProject, { body: { id, name: id } });
});
afterAll(async () => {
  await house.database.close();
  await features.stop();
});

interface Asked {
  readonly operation: AnyOperation;
  readonly about: CallRequest<AnyOperation>;
  readonly idempotencyKey: string;
  readonly reply: unknown;
}

/** What a row asked, while somebody listens; and what all of them did. */
let listening: Asked[] | undefined;
const everAsked = new Set<string>();

/** Asks with a tag that is none, which must be refused and do nothing; gives what it is told instead. */
const currentTag = async (operation: AnyOperation, about: CallRequest<AnyOperation>) => {
  if (operation.ifMatch === undefined) return {};
  const refused = await features
    .call(operation, about, mia, { ifMatch: ['none'] })
    .catch((error: unknown) => error as Refusal);
  expect(refused).toMatchObject({ kind: 'PreconditionFailed', tag: expect.any(String) });
  return { ifMatch: [(refused as Refusal).tag ?? ''] };
};

/** Asks the service; a write with a key of its own while somebody listens. */
const ask = async <O extends AnyOperation>(operation: O, about: CallRequest<O>): Promise<ReplyOf<O>> => {
  if (listening === undefined || operation.http?.method === 'GET') return features.call(operation, about);
  const idempotencyKey = randomUUID();
  const more = { idempotencyKey, ...(await currentTag(operation, about)) };
  const reply = await features.call(operation, about, mia, more);
  listening.push({ operation, about, idempotencyKey, reply });
  everAsked.add(operation.subject);
  return reply;
};

const project = { project: 'shop' };
const projectPath = { projectId: 'shop' };
const path = { ...projectPath, featureName: 'lamp' };
const inDevelopment = { ...path, environment: 'development' };
const red = { type: 'simple', value: 'red' };
const blue = { type: 'simple', value: 'blue' };
const tags = [red];

/** The feature of most rows: tagged, so that each event can show the tags that there were. */
const lamp = (about: FeatureAbout = {}) => aFeature({ name: 'lamp', tags, ...about });
const given =
  (...some: readonly FeatureAbout[]) =>
  () =>
    features.given(...some.map((about) => lamp(about)));
const archivedAt = '2026-02-01T00:00:00.000Z';

/** An event about the lamp. */
const ofLamp = (type: EventType, more: Partial<Told> = {}): Told => ({
  ...{ type, ...project, featureName: 'lamp', tags },
  ...more,
});
const inIt = (type: EventType, more: Partial<Told> = {}): Told => ofLamp(type, { environment: 'development', ...more });

const strategyId = '8c0f4d2e-0000-4000-8000-000000000001';
const otherId = '8c0f4d2e-0000-4000-8000-000000000002';
const strategyPath = { ...inDevelopment, strategyId };
const everyone = aStrategy({ id: strategyId });
const resting = { ...everyone, disabled: true };
const second = aStrategy({ id: otherId, sortOrder: 1 });
const rollout = (groupId: string) => ({
  ...{ id: expect.any(String), name: 'flexibleRollout', title: null, disabled: false, sortOrder: 0 },
  ...{ constraints: [], variants: [], segments: [] },
  parameters: { rollout: '100', stickiness: 'default', groupId },
});

const variant = (name: string, weight: number) => ({
  ...{ name, weight, weightType: 'variable' as const, stickiness: 'default' },
});
const one = variant('one', 1000);
const two = [variant('one', 500), variant('two', 500)];
const kept = (variants: readonly object[]) => ({ variants });
const environments: Readonly<Record<string, FeatureInEnvironment>> = {
  development: { enabled: false, strategies: [], variants: [one] },
};

const onParent = { feature: 'socket', enabled: true, variants: [] };
const withParent = given({ name: 'socket' }, { dependencies: [onParent] });

const segmentId = async (name: string): Promise<number> => {
  const { segments } = await ask(ListSegments, {});
  return segments.find((segment) => segment.name === name)?.id ?? 0;
};
const aSegment = (name: string) => async () => {
  await ask(CreateSegment, { body: { name, project: 'shop', constraints: [] } });
};
const segmentCalled = (name: string, description: string | null = null) => ({
  ...{ id: expect.any(Number), name, description, project: 'shop', constraints: [] },
  ...{ createdBy: 'mia', createdAt: expect.any(String) },
});
const usingSegment = async () => {
  await aSegment('linked')();
  await given({ strategies: [everyone] })();
};

const aField = (name: string) => () => ask(CreateContextField, { body: { name } });
const fieldCalled = (name: string, description: string | null = null) => ({
  ...{ name, description, stickiness: false, sortOrder: 0, legalValues: [] },
});
const aType = (name: string) => () => ask(CreateStrategyType, { body: { name, parameters: [] } });
const typeCalled = (name: string, description: string | null = null) => ({
  ...{ name, title: null, displayName: name, description, editable: true, deprecated: false, parameters: [] },
});
const tagTypeCalled = (name: string, description: string | null = null) => ({
  ...{ name, description, icon: null, color: null },
});
const anEnvironment = (name: string) => () => ask(CreateEnvironment, { body: { name, type: 'test', sortOrder: 9 } });
const environmentCalled = (name: string, sortOrder = 9) => ({
  ...{ name, type: 'test', sortOrder, enabled: true, protected: false, requiredApprovals: null },
});
const aProject = (id: string) => () =>
  ask(CreateProject, { body: { id, name: id, environments: ['development', 'production'] } });
const projectCalled = (id: string, about: object = {}) => ({
  ...{ id, name: id, description: null, mode: 'open', defaultStickiness: 'default' },
  ...{ featureLimit: null, featureNaming: null },
  ...about,
});

const ticket = { id: 'l1', url: 'https://a.example/', title: 'Ticket' };

const asStored = (about: FeatureAbout = {}) => storedFeature(lamp(about));
const created = (name: string) => ({
  ...{ name, description: null, type: 'release', project: 'shop', stale: false, impressionData: false },
  ...{ archived: false, archivedAt: null, lastSeenAt: null, createdAt: expect.any(String) },
});

const inHall = { type: 'room', value: 'hall' };
const onFloor = { contextName: 'floor', operator: 'IN' as const, values: ['1'] };

const rows: readonly Row[] = [
  {
    write: 'create a feature with a new tag',
    asks: () =>
      ask(CreateFeature, { params: projectPath, body: { name: 'lamp', tags: [{ type: 'simple', value: 'new' }] } }),
    tells: [
      { type: 'tag-created', data: { type: 'simple', value: 'new' } },
      ofLamp('feature-created', { data: created('lamp'), tags: [{ type: 'simple', value: 'new' }] }),
    ],
    again: 'is refused',
  },
  {
    write: 'clone a feature with a strategy and a parent',
    given: given({ name: 'socket' }, { strategies: [everyone], dependencies: [onParent] }),
    asks: () => ask(CloneFeature, { params: path, body: { name: 'copy' } }),
    tells: [
      { type: 'feature-created', ...project, featureName: 'copy', data: created('copy') },
      {
        ...{ type: 'feature-strategy-add', ...project, featureName: 'copy', environment: 'development' },
        data: { ...everyone, id: expect.any(String) },
      },
      { type: 'feature-dependency-added', ...project, featureName: 'copy', data: onParent },
    ],
    again: 'is refused',
  },
  {
    write: 'replace the metadata of a feature',
    given: given({}),
    asks: () =>
      ask(UpdateFeature, { params: path, body: { name: 'lamp', type: 'release', description: 'bright', stale: true } }),
    tells: [
      ofLamp('feature-metadata-updated', {
        preData: asStored(),
        data: asStored({ description: 'bright', stale: true }),
      }),
    ],
    again: 'is silent',
  },
  {
    write: 'patch a feature to be stale',
    given: given({}),
    asks: () => ask(PatchFeature, { params: path, body: [{ op: 'replace', path: '/stale', value: true }] }),
    tells: [
      ofLamp('feature-metadata-updated', { preData: asStored(), data: asStored({ stale: true }) }),
      ofLamp('feature-stale-on'),
    ],
    again: 'is silent',
  },
  {
    write: 'add a link to a feature',
    given: given({}),
    asks: () => ask(AddFeatureLink, { params: path, body: { url: 'tickets.example/7', title: 'Ticket' } }),
    tells: [ofLamp('feature-link-added', { data: { url: 'https://tickets.example/7', title: 'Ticket' } })],
    again: 'tells again',
  },
  {
    write: 'replace a link of a feature',
    given: given({ links: [ticket] }),
    asks: () => ask(UpdateFeatureLink, { params: { ...path, linkId: 'l1' }, body: { url: 'https://b.example/' } }),
    tells: [
      ofLamp('feature-link-updated', {
        preData: { url: 'https://a.example/', title: 'Ticket' },
        data: { url: 'https://b.example/', title: null },
      }),
    ],
    again: 'is silent',
  },
  {
    write: 'remove a link from a feature',
    given: given({ links: [ticket] }),
    asks: () => ask(RemoveFeatureLink, { params: { ...path, linkId: 'l1' } }),
    tells: [ofLamp('feature-link-removed', { preData: { url: 'https://a.example/', title: 'Ticket' } })],
    again: 'is refused',
  },
  {
    write: 'mark features as stale',
    given: given({}, { name: 'known', stale: true }),
    asks: () => ask(SetStale, { params: projectPath, body: { features: ['lamp', 'known'], stale: true } }),
    tells: [ofLamp('feature-stale-on')],
    again: 'is silent',
  },
  {
    write: 'mark features as not stale any more',
    given: given({ stale: true }),
    asks: () => ask(SetStale, { params: projectPath, body: { features: ['lamp'], stale: false } }),
    tells: [ofLamp('feature-stale-off')],
    again: 'is silent',
  },
  {
    write: 'let a feature outlive its type',
    given: given({ createdAt: '2020-01-01T00:00:00.000Z' }),
    asks: () => runHousekeeping(house.transaction, 90),
    tells: [ofLamp('feature-potentially-stale-on')],
    again: 'is silent',
    by: systemCaller,
  },
  {
    write: 'archive a feature that has a parent',
    given: withParent,
    asks: () => ask(ArchiveFeature, { params: path }),
    tells: [ofLamp('feature-dependencies-removed'), ofLamp('feature-archived')],
    again: 'is silent',
  },
  {
    write: 'archive features',
    given: given({}, { name: 'socket' }),
    asks: () => ask(ArchiveFeatures, { params: projectPath, body: { features: ['socket', 'lamp'] } }),
    tells: [ofLamp('feature-archived'), ofLamp('feature-archived', { featureName: 'socket' })],
    again: 'is silent',
  },
  {
    write: 'revive a feature that was on',
    given: given({ archivedAt, enabled: true, strategies: [everyone] }),
    asks: () => ask(ReviveFeature, { params: path }),
    tells: [ofLamp('feature-revived')],
    again: 'is silent',
  },
  {
    write: 'revive features',
    given: given({ archivedAt }, { name: 'active' }),
    asks: () => ask(ReviveFeatures, { params: projectPath, body: { features: ['lamp', 'active', 'unknown'] } }),
    tells: [ofLamp('feature-revived')],
    again: 'is silent',
  },
  {
    write: 'delete a feature for good',
    given: given({ archivedAt }),
    asks: () => ask(DeleteFeature, { params: path }),
    tells: [ofLamp('feature-deleted', { preData: asStored({ archivedAt }) })],
    again: 'is refused',
  },
  {
    write: 'delete features for good',
    given: given({ archivedAt }, { name: 'active' }),
    asks: () => ask(DeleteFeatures, { params: projectPath, body: { features: ['lamp', 'active'] } }),
    tells: [ofLamp('feature-deleted', { preData: asStored({ archivedAt }) })],
    again: 'is silent',
  },
  {
    write: 'delete an active feature',
    given: given({}),
    asks: () => ask(DeleteFeature, { params: path }),
    tells: [],
    again: 'is silent',
  },
  {
    write: 'move a feature to another project',
    given: given({}),
    asks: () => ask(MoveFeature, { params: path, body: { newProjectId: 'yard' } }),
    tells: [ofLamp('feature-project-change', { project: 'yard', data: { oldProject: 'shop', newProject: 'yard' } })],
    again: 'is refused',
  },
  {
    write: 'add a strategy',
    given: given({}),
    asks: () => ask(AddStrategy, { params: inDevelopment, body: { name: 'flexibleRollout' } }),
    tells: [inIt('feature-strategy-add', { data: rollout('lamp') })],
    again: 'tells again',
  },
  {
    write: 'replace a strategy',
    given: given({ strategies: [everyone] }),
    asks: () => ask(UpdateStrategy, { params: strategyPath, body: { name: 'default', title: 'All', parameters: {} } }),
    tells: [inIt('feature-strategy-update', { preData: everyone, data: { ...everyone, title: 'All' } })],
    again: 'is silent',
  },
  {
    write: 'patch a strategy',
    given: given({ strategies: [everyone] }),
    asks: () => ask(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/title', value: 'All' }] }),
    tells: [inIt('feature-strategy-update', { preData: everyone, data: { ...everyone, title: 'All' } })],
    again: 'is silent',
  },
  {
    write: 'disable the last active strategy of a feature that is on',
    given: given({ enabled: true, strategies: [everyone] }),
    asks: () => ask(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/disabled', value: true }] }),
    tells: [
      inIt('feature-strategy-update', { preData: everyone, data: resting }),
      inIt('feature-environment-disabled'),
    ],
    again: 'is silent',
  },
  {
    write: 'delete the last strategy of a feature that is on',
    given: given({ enabled: true, strategies: [everyone] }),
    asks: () => ask(DeleteStrategy, { params: strategyPath }),
    tells: [inIt('feature-environment-disabled'), inIt('feature-strategy-remove', { preData: everyone })],
    again: 'is refused',
  },
  {
    write: 'put strategies into another order',
    given: given({ strategies: [everyone, second] }),
    asks: () => ask(SetStrategyOrder, { params: inDevelopment, body: [{ id: strategyId, sortOrder: 7 }] }),
    tells: [
      inIt('strategy-order-changed', {
        preData: { strategyIds: [strategyId, otherId] },
        data: { strategyIds: [otherId, strategyId] },
      }),
    ],
    again: 'is silent',
  },
  {
    write: 'turn a feature on that has no strategy',
    given: given({}),
    asks: () => ask(EnableEnvironment, { params: inDevelopment, query: {} }),
    tells: [inIt('feature-strategy-add', { data: rollout('lamp') }), inIt('feature-environment-enabled')],
    again: 'is silent',
  },
  {
    write: 'turn a feature on with the strategies that were disabled',
    given: given({ strategies: [resting, second] }),
    asks: () => ask(EnableEnvironment, { params: inDevelopment, query: { shouldActivateDisabledStrategies: true } }),
    tells: [inIt('feature-strategy-update', { preData: resting, data: everyone }), inIt('feature-environment-enabled')],
    again: 'is silent',
  },
  {
    write: 'turn a feature off',
    given: given({ enabled: true, strategies: [everyone] }),
    asks: () => ask(DisableEnvironment, { params: inDevelopment }),
    tells: [inIt('feature-environment-disabled')],
    again: 'is silent',
  },
  {
    write: 'turn features on',
    given: given({ strategies: [everyone] }, { name: 'lit', enabled: true, strategies: [second] }),
    asks: () =>
      ask(EnableEnvironmentsInBulk, {
        params: { ...projectPath, environment: 'development' },
        ...{ query: {}, body: { features: ['lamp', 'lit'] } },
      }),
    tells: [inIt('feature-environment-enabled')],
    again: 'is silent',
  },
  {
    write: 'turn features off',
    given: given({ enabled: true, strategies: [everyone] }, { name: 'dark' }),
    asks: () =>
      ask(DisableEnvironmentsInBulk, {
        params: { ...projectPath, environment: 'development' },
        body: { features: ['lamp', 'dark'] },
      }),
    tells: [inIt('feature-environment-disabled')],
    again: 'is silent',
  },
  {
    write: 'set the variants of a feature in an environment',
    given: given({ environments }),
    asks: () => ask(SetEnvironmentVariants, { params: inDevelopment, body: two }),
    tells: [inIt('feature-environment-variants-updated', { preData: kept([one]), data: kept(two) })],
    again: 'is silent',
  },
  {
    write: 'patch the variants of a feature in an environment',
    given: given({ environments }),
    asks: () => ask(PatchEnvironmentVariants, { params: inDevelopment, body: [{ op: 'remove', path: '/0' }] }),
    tells: [inIt('feature-environment-variants-updated', { preData: kept([one]), data: kept([]) })],
    again: 'is refused',
  },
  {
    write: 'set the variants of a feature in several environments',
    given: given({ environments }),
    asks: () =>
      ask(SetVariantsInBatch, { params: path, body: { environments: ['development', 'production'], variants: two } }),
    tells: [
      inIt('feature-environment-variants-updated', { preData: kept([one]), data: kept(two) }),
      ofLamp('feature-environment-variants-updated', {
        environment: 'production',
        ...{ preData: kept([]), data: kept(two) },
      }),
    ],
    again: 'is silent',
  },
  {
    write: 'set the variants of a feature everywhere',
    given: given({ environments }),
    asks: () => ask(SetFeatureVariants, { params: path, body: two }),
    tells: [ofLamp('feature-variants-updated', { preData: kept([one]), data: kept(two) })],
    again: 'is silent',
  },
  {
    write: 'patch the variants of a feature everywhere',
    given: given({ environments }),
    asks: () => ask(PatchFeatureVariants, { params: path, body: [{ op: 'replace', path: '', value: two }] }),
    tells: [
      inIt('feature-environment-variants-updated', { preData: kept([one]), data: kept(two) }),
      ofLamp('feature-environment-variants-updated', {
        environment: 'production',
        ...{ preData: kept([]), data: kept(two) },
      }),
    ],
    again: 'is silent',
  },
  {
    write: 'tag a feature',
    given: given({}),
    asks: () => ask(AddFeatureTag, { params: path, body: blue }),
    tells: [{ type: 'tag-created', data: blue }, ofLamp('feature-tagged', { data: blue, tags: [blue, red] })],
    again: 'is silent',
  },
  {
    write: 'take a tag off a feature',
    given: given({}),
    asks: () => ask(RemoveFeatureTag, { params: { featureName: 'lamp', ...red } }),
    tells: [ofLamp('feature-untagged', { preData: red })],
    again: 'is silent',
  },
  {
    write: 'change the tags of a feature',
    given: given({}),
    asks: () => ask(UpdateFeatureTags, { params: path, body: { addedTags: [blue], removedTags: [red] } }),
    tells: [
      { type: 'tag-created', data: blue },
      ofLamp('feature-tagged', { data: blue, tags: [blue, red] }),
      ofLamp('feature-untagged', { preData: red, tags: [blue, red] }),
    ],
    again: 'is silent',
  },
  {
    write: 'change the tags of features',
    given: given({}, { name: 'bare', tags: [] }),
    asks: () =>
      ask(TagFeaturesInBulk, {
        params: projectPath,
        body: { features: ['lamp', 'bare'], tags: { addedTags: [blue], removedTags: [red] } },
      }),
    tells: [
      { type: 'tag-created', data: blue },
      ofLamp('feature-tagged', { data: blue, tags: [blue, red] }),
      ofLamp('feature-untagged', { preData: red, tags: [blue, red] }),
      { type: 'feature-tagged', ...project, featureName: 'bare', data: blue, tags: [blue] },
    ],
    again: 'is silent',
  },
  {
    write: 'create a tag',
    asks: () => ask(CreateTag, { body: { type: 'simple', value: ' green ' } }),
    tells: [{ type: 'tag-created', data: { type: 'simple', value: 'green' } }],
    again: 'is refused',
  },
  {
    write: 'delete a tag that a feature has',
    given: async () => {
      await ask(CreateTag, { body: red });
      await given({})();
    },
    asks: () => ask(DeleteTag, { params: red }),
    tells: [ofLamp('feature-untagged', { preData: red }), { type: 'tag-deleted', data: red }],
    again: 'is refused',
  },
  {
    write: 'create a type of tags',
    asks: () => ask(CreateTagType, { body: { name: 'team', description: 'Whose it is.' } }),
    tells: [{ type: 'tag-type-created', data: tagTypeCalled('team', 'Whose it is.') }],
    again: 'is refused',
  },
  {
    write: 'update a type of tags',
    given: () => ask(CreateTagType, { body: { name: 'size' } }),
    asks: () => ask(UpdateTagType, { params: { name: 'size' }, body: { description: 'How big it is.' } }),
    tells: [
      { type: 'tag-type-updated', preData: tagTypeCalled('size'), data: tagTypeCalled('size', 'How big it is.') },
    ],
    again: 'is silent',
  },
  {
    write: 'delete a type of tags that a feature has',
    given: async () => {
      await ask(CreateTagType, { body: { name: 'shade' } });
      await features.given(lamp({ tags: [{ type: 'shade', value: 'dark' }] }));
    },
    asks: () => ask(DeleteTagType, { params: { name: 'shade' } }),
    tells: [
      ofLamp('feature-untagged', {
        preData: { type: 'shade', value: 'dark' },
        tags: [{ type: 'shade', value: 'dark' }],
      }),
      { type: 'tag-type-deleted', preData: tagTypeCalled('shade') },
    ],
    again: 'is refused',
  },
  {
    write: 'make a feature depend on another',
    given: given({ name: 'socket' }, {}),
    asks: () => ask(AddDependency, { params: path, body: { feature: 'socket' } }),
    tells: [ofLamp('feature-dependency-added', { data: onParent })],
    again: 'is silent',
  },
  {
    write: 'make a feature depend on another than before',
    given: given({ name: 'socket' }, { name: 'plug' }, { dependencies: [onParent] }),
    asks: () => ask(AddDependency, { params: path, body: { feature: 'plug', enabled: false } }),
    tells: [
      ofLamp('feature-dependency-removed', { data: { feature: 'socket' } }),
      ofLamp('feature-dependency-added', { data: { feature: 'plug', enabled: false, variants: [] } }),
    ],
    again: 'is silent',
  },
  {
    write: 'remove a dependency',
    given: withParent,
    asks: () => ask(RemoveDependency, { params: { ...path, parent: 'socket' } }),
    tells: [ofLamp('feature-dependency-removed', { data: { feature: 'socket' } })],
    again: 'is refused',
  },
  {
    write: 'remove all dependencies',
    given: withParent,
    asks: () => ask(RemoveDependencies, { params: path }),
    tells: [ofLamp('feature-dependencies-removed')],
    again: 'is refused',
  },
  {
    write: 'complete a feature',
    given: given({}),
    asks: () => ask(CompleteFeature, { params: path, body: { status: 'kept', statusValue: 'one' } }),
    tells: [ofLamp('feature-completed', { data: { status: 'kept', statusValue: 'one', kept: true } })],
    again: 'is silent',
  },
  {
    write: 'take a completion back',
    given: given({
      lifecycle: [
        { stage: 'initial', enteredStageAt: archivedAt },
        { stage: 'completed', status: 'kept', enteredStageAt: archivedAt },
      ],
    }),
    asks: () => ask(UncompleteFeature, { params: path }),
    tells: [ofLamp('feature-uncompleted')],
    again: 'is silent',
  },
  {
    write: 'make a feature a favourite',
    given: given({}),
    asks: () => ask(AddFavoriteFeature, { params: path }),
    tells: [{ type: 'feature-favorited', featureName: 'lamp', data: { feature: 'lamp' }, tags }],
    again: 'is silent',
  },
  {
    write: 'make a feature no favourite any more',
    given: async () => {
      await given({})();
      await ask(AddFavoriteFeature, { params: path });
    },
    asks: () => ask(RemoveFavoriteFeature, { params: path }),
    tells: [{ type: 'feature-unfavorited', featureName: 'lamp', data: { feature: 'lamp' }, tags }],
    again: 'is silent',
  },
  {
    write: 'make a project a favourite',
    asks: () => ask(AddFavoriteProject, { params: projectPath }),
    tells: [{ type: 'project-favorited', ...project, data: project }],
    again: 'is silent',
  },
  {
    write: 'make a project no favourite any more',
    given: () => ask(AddFavoriteProject, { params: projectPath }),
    asks: () => ask(RemoveFavoriteProject, { params: projectPath }),
    tells: [{ type: 'project-unfavorited', ...project, data: project }],
    again: 'is silent',
  },
  {
    write: 'say how long features of a type live',
    asks: () => ask(SetFeatureTypeLifetime, { params: { id: 'operational' }, body: { lifetimeDays: 9 } }),
    tells: [
      {
        type: 'feature-type-updated',
        preData: expect.objectContaining({ id: 'operational', lifetimeDays: 7 }),
        data: expect.objectContaining({ id: 'operational', lifetimeDays: 9 }),
      },
    ],
    again: 'is silent',
  },
  {
    write: 'create a type of strategies',
    asks: aType('moon'),
    tells: [{ type: 'strategy-created', data: typeCalled('moon') }],
    again: 'is refused',
  },
  {
    write: 'update a type of strategies',
    given: aType('sun'),
    asks: () => ask(UpdateStrategyType, { params: { name: 'sun' }, body: { description: 'By day.', parameters: [] } }),
    tells: [{ type: 'strategy-updated', data: typeCalled('sun', 'By day.') }],
    again: 'is silent',
  },
  {
    write: 'deprecate a type of strategies',
    given: aType('comet'),
    asks: () => ask(DeprecateStrategyType, { params: { name: 'comet' } }),
    tells: [{ type: 'strategy-deprecated', data: { name: 'comet' } }],
    again: 'is silent',
  },
  {
    write: 'offer a deprecated type of strategies again',
    given: async () => {
      await aType('halley')();
      await ask(DeprecateStrategyType, { params: { name: 'halley' } });
    },
    asks: () => ask(ReactivateStrategyType, { params: { name: 'halley' } }),
    tells: [{ type: 'strategy-reactivated', data: { name: 'halley' } }],
    again: 'is silent',
  },
  {
    write: 'delete a type of strategies',
    given: aType('pluto'),
    asks: () => ask(DeleteStrategyType, { params: { name: 'pluto' } }),
    tells: [{ type: 'strategy-deleted', data: { name: 'pluto' } }],
    again: 'is refused',
  },
  {
    write: 'create a segment',
    asks: aSegment('young'),
    tells: [{ type: 'segment-created', ...project, data: segmentCalled('young') }],
    again: 'is refused',
  },
  {
    write: 'update a segment',
    given: aSegment('old'),
    asks: async () =>
      ask(UpdateSegment, {
        params: { id: await segmentId('old') },
        body: { name: 'old', description: 'Over 80.', project: 'shop', constraints: [] },
      }),
    tells: [
      {
        ...{ type: 'segment-updated', ...project },
        ...{ preData: segmentCalled('old'), data: segmentCalled('old', 'Over 80.') },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'delete a segment',
    given: aSegment('gone'),
    asks: async () => ask(DeleteSegment, { params: { id: await segmentId('gone') } }),
    tells: [{ type: 'segment-deleted', ...project, preData: segmentCalled('gone') }],
    again: 'is refused',
  },
  {
    write: 'link segments to a strategy',
    given: usingSegment,
    asks: async () =>
      ask(SetStrategySegments, {
        body: {
          ...{ projectId: 'shop', environmentId: 'development', strategyId },
          segmentIds: [await segmentId('linked')],
        },
      }),
    tells: [
      inIt('feature-strategy-update', { preData: everyone, data: { ...everyone, segments: [expect.any(Number)] } }),
    ],
    again: 'is silent',
  },
  {
    write: 'create a context field',
    asks: aField('country'),
    tells: [{ type: 'context-field-created', data: fieldCalled('country') }],
    again: 'is refused',
  },
  {
    write: 'update a context field',
    given: aField('city'),
    asks: () => ask(UpdateContextField, { params: { name: 'city' }, body: { description: 'Where it is.' } }),
    tells: [{ type: 'context-field-updated', preData: fieldCalled('city'), data: fieldCalled('city', 'Where it is.') }],
    again: 'is silent',
  },
  {
    write: 'set a legal value',
    given: aField('planet'),
    asks: () => ask(SetLegalValue, { params: { name: 'planet' }, body: { value: 'mars' } }),
    tells: [
      {
        type: 'context-field-updated',
        preData: fieldCalled('planet'),
        data: { ...fieldCalled('planet'), legalValues: [{ value: 'mars' }] },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'remove a legal value',
    given: () => ask(CreateContextField, { body: { name: 'moon', legalValues: [{ value: 'io' }] } }),
    asks: () => ask(RemoveLegalValue, { params: { name: 'moon', value: 'io' } }),
    tells: [
      {
        type: 'context-field-updated',
        preData: { ...fieldCalled('moon'), legalValues: [{ value: 'io' }] },
        data: fieldCalled('moon'),
      },
    ],
    again: 'is silent',
  },
  {
    write: 'delete a context field',
    given: aField('street'),
    asks: () => ask(DeleteContextField, { params: { name: 'street' } }),
    tells: [{ type: 'context-field-deleted', preData: fieldCalled('street') }],
    again: 'is refused',
  },
  {
    write: 'create an environment',
    asks: anEnvironment('lab'),
    tells: [{ type: 'environment-created', environment: 'lab', data: environmentCalled('lab') }],
    again: 'is refused',
  },
  {
    write: 'update an environment',
    given: anEnvironment('attic'),
    asks: () => ask(UpdateEnvironment, { params: { name: 'attic' }, body: { sortOrder: 12 } }),
    tells: [
      {
        ...{ type: 'environment-updated', environment: 'attic' },
        ...{ preData: environmentCalled('attic'), data: environmentCalled('attic', 12) },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'order the environments',
    given: anEnvironment('roof'),
    asks: () => ask(SetEnvironmentOrder, { body: { roof: 14, development: 2 } }),
    tells: [
      {
        ...{ type: 'environment-updated', environment: 'roof' },
        ...{ preData: environmentCalled('roof'), data: environmentCalled('roof', 14) },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'take an environment out of use, and into it again',
    given: anEnvironment('cellar'),
    asks: async () => {
      await ask(SwitchEnvironmentOff, { params: { name: 'cellar' } });
      await ask(SwitchEnvironmentOn, { params: { name: 'cellar' } });
    },
    tells: [],
    again: 'is silent',
  },
  {
    write: 'delete an environment',
    given: anEnvironment('shed'),
    asks: () => ask(DeleteEnvironment, { params: { name: 'shed' } }),
    tells: [{ type: 'environment-deleted', environment: 'shed', preData: environmentCalled('shed') }],
    again: 'is refused',
  },
  {
    write: 'create a project',
    asks: aProject('bakery'),
    tells: [
      {
        ...{ type: 'project-created', project: 'bakery' },
        data: {
          ...{ id: 'bakery', name: 'bakery', description: null, mode: 'open', defaultStickiness: 'default' },
          environments: ['development', 'production'],
        },
      },
    ],
    again: 'is refused',
  },
  {
    write: 'update a project',
    given: aProject('dairy'),
    asks: () => ask(UpdateProject, { params: { projectId: 'dairy' }, body: { name: 'Dairy' } }),
    tells: [
      {
        ...{ type: 'project-updated', project: 'dairy' },
        ...{ preData: projectCalled('dairy'), data: projectCalled('dairy', { name: 'Dairy' }) },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'change the settings of a project',
    given: aProject('mill'),
    asks: () =>
      ask(UpdateProjectSettings, { params: { projectId: 'mill' }, body: { mode: 'private', featureLimit: 3 } }),
    tells: [
      {
        ...{ type: 'project-updated', project: 'mill' },
        ...{ preData: projectCalled('mill'), data: projectCalled('mill', { mode: 'private', featureLimit: 3 }) },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'archive a project',
    given: aProject('forge'),
    asks: () => ask(ArchiveProject, { params: { projectId: 'forge' } }),
    tells: [{ type: 'project-archived', project: 'forge' }],
    again: 'is silent',
  },
  {
    write: 'revive a project',
    given: async () => {
      await aProject('kiln')();
      await ask(ArchiveProject, { params: { projectId: 'kiln' } });
    },
    asks: () => ask(ReviveProject, { params: { projectId: 'kiln' } }),
    tells: [{ type: 'project-revived', project: 'kiln' }],
    again: 'is silent',
  },
  {
    write: 'delete a project with an archived feature and a segment',
    given: async () => {
      await aProject('barn')();
      await ask(CreateSegment, { body: { name: 'hens', project: 'barn', constraints: [] } });
      await given({ project: 'barn', archivedAt })();
    },
    asks: () => ask(DeleteProject, { params: { projectId: 'barn' } }),
    tells: [
      ofLamp('feature-deleted', { project: 'barn', preData: asStored({ project: 'barn', archivedAt }) }),
      { type: 'segment-deleted', project: 'barn', preData: { ...segmentCalled('hens'), project: 'barn' } },
      { type: 'project-deleted', project: 'barn' },
    ],
    again: 'is refused',
  },
  {
    write: 'add an environment to a project',
    given: async () => {
      await anEnvironment('stage')();
      await aProject('theatre')();
    },
    asks: () => ask(AddProjectEnvironment, { params: { projectId: 'theatre' }, body: { environment: 'stage' } }),
    tells: [{ type: 'project-environment-added', project: 'theatre', environment: 'stage' }],
    again: 'is refused',
  },
  {
    write: 'remove an environment from a project',
    given: aProject('opera'),
    asks: () => ask(RemoveProjectEnvironment, { params: { projectId: 'opera', environment: 'production' } }),
    tells: [{ type: 'project-environment-removed', project: 'opera', environment: 'production' }],
    again: 'is refused',
  },
  {
    write: 'set the default strategy of a project in an environment',
    given: aProject('circus'),
    asks: () =>
      ask(SetDefaultStrategy, {
        params: { projectId: 'circus', environment: 'development' },
        body: { name: 'flexibleRollout', parameters: { rollout: '10' } },
      }),
    tells: [
      {
        ...{ type: 'default-strategy-updated', project: 'circus', environment: 'development' },
        data: {
          ...{ name: 'flexibleRollout', title: null, disabled: false },
          ...{ constraints: [], variants: [], segments: [], parameters: { rollout: '10' } },
        },
      },
    ],
    again: 'is silent',
  },
  {
    write: 'register an application',
    asks: () =>
      ask(RegisterApplication, {
        body: { appName: 'kiosk', started: archivedAt, interval: 10, strategies: ['default'] },
      }),
    tells: [{ type: 'application-created', data: expect.objectContaining({ appName: 'kiosk' }) }],
    again: 'is silent',
    by: systemCaller,
  },
  {
    write: 'report the usage of a feature',
    given: given({}),
    asks: () =>
      ask(ReportMetrics, {
        body: {
          appName: 'kiosk',
          environment: 'development',
          bucket: { start: archivedAt, stop: new Date().toISOString(), toggles: { lamp: { yes: 1, no: 0 } } },
        },
      }),
    tells: [],
    again: 'is silent',
  },
  {
    write: 'create an application, and say more of it',
    asks: async () => {
      const params = { appName: 'terminal' };
      await ask(DescribeApplication, { params, body: { description: 'sells tickets' } });
      await ask(DescribeApplication, { params, body: { color: 'red' } });
    },
    tells: [{ type: 'application-created', data: expect.objectContaining({ appName: 'terminal' }) }],
    again: 'is silent',
  },
  {
    write: 'remove an application',
    asks: () => ask(DeleteApplication, { params: { appName: 'terminal' } }),
    tells: [],
    again: 'is refused',
  },
  {
    write: 'register a browser or app',
    asks: () =>
      ask(RegisterFrontendApplication, {
        body: { appName: 'page', started: archivedAt, interval: 10, strategies: [] },
      }),
    tells: [{ type: 'application-created', data: expect.objectContaining({ appName: 'page' }) }],
    again: 'is silent',
    by: systemCaller,
  },
  {
    write: 'report the usage of a feature in a browser or app',
    given: given({}),
    asks: () =>
      ask(ReportFrontendMetrics, {
        body: {
          appName: 'page',
          environment: 'development',
          bucket: { start: archivedAt, stop: new Date().toISOString(), toggles: { lamp: { yes: 1, no: 0 } } },
        },
      }),
    tells: [],
    again: 'is silent',
  },
  {
    write: 'report the usage of features in bulk',
    given: given({}),
    asks: () =>
      ask(ReportMetricsInBulk, {
        body: {
          applications: [],
          metrics: [
            {
              ...{ featureName: 'lamp', appName: 'kiosk', environment: 'development' },
              ...{ timestamp: new Date().toISOString(), yes: 1, no: 0 },
            },
          ],
        },
      }),
    tells: [],
    again: 'is silent',
  },
  {
    write: 'report an Edge instance',
    asks: () => ask(ReportEdgeInstance, { body: { identifier: 'edge-1', appName: 'edge', edgeVersion: '19.15.1' } }),
    tells: [],
    again: 'is silent',
  },
  {
    write: 'export features',
    given: given({ tags: [] }),
    asks: () => ask(ExportFeatures, { body: { environment: 'development', features: ['lamp'] } }),
    tells: [
      {
        type: 'features-exported',
        data: { environment: 'development', tag: null, project: null, features: ['lamp'] },
      },
    ],
    again: 'tells again',
  },
  {
    write: 'import features',
    given: given({ name: 'socket' }, { strategies: [everyone], tags: [] }),
    asks: () =>
      ask(ImportFeatures, {
        body: {
          ...{ project: 'shop', environment: 'development' },
          data: {
            features: [
              { name: 'lamp', type: 'release', description: 'bright' },
              { name: 'torch', type: 'release' },
            ],
            featureStrategies: [
              {
                name: 'default',
                id: otherId,
                featureName: 'lamp',
                constraints: [onFloor],
              },
            ],
            featureEnvironments: [
              { name: 'lamp', featureName: 'lamp', environment: 'development', enabled: true, variants: [one] },
            ],
            contextFields: [{ name: 'floor' }],
            featureTags: [{ featureName: 'lamp', tagType: inHall.type, tagValue: inHall.value }],
            tagTypes: [{ name: 'room' }],
            segments: [],
            dependencies: [{ feature: 'lamp', dependencies: [{ feature: 'socket' }] }],
          },
        },
      }),
    tells: [
      { type: 'context-field-created', data: fieldCalled('floor') },
      { type: 'tag-type-created', data: tagTypeCalled('room') },
      { type: 'tag-created', data: inHall },
      ofLamp('feature-metadata-updated', {
        ...{ preData: asStored(), data: asStored({ description: 'bright' }) },
        tags: [],
      }),
      ofLamp('feature-tagged', { data: inHall, tags: [inHall] }),
      inIt('feature-strategy-remove', { preData: everyone, tags: [inHall] }),
      inIt('feature-strategy-add', {
        data: { ...everyone, id: otherId, constraints: [{ ...onFloor, inverted: false, caseInsensitive: false }] },
        tags: [inHall],
      }),
      inIt('feature-environment-variants-updated', { preData: kept([]), data: kept([one]), tags: [inHall] }),
      inIt('feature-environment-enabled', { tags: [inHall] }),
      ofLamp('feature-dependency-added', { data: onParent, tags: [inHall] }),
      { type: 'feature-created', ...project, featureName: 'torch', data: created('torch') },
      { type: 'features-imported', ...project, environment: 'development' },
    ],
    again: 'is silent',
  },
  {
    write: 'clone an environment',
    given: given({ enabled: true, strategies: [everyone] }, { name: 'empty' }),
    asks: () =>
      ask(CloneEnvironment, {
        params: { name: 'development' },
        body: { name: 'twin', type: 'test', projects: ['shop'] },
      }),
    tells: [
      {
        type: 'environment-created',
        environment: 'twin',
        data: environmentCalled('twin', expect.any(Number) as never),
      },
      { type: 'project-environment-added', ...project, environment: 'twin' },
      ofLamp('feature-strategy-add', { environment: 'twin', data: { ...everyone, id: expect.any(String) } }),
      ofLamp('feature-environment-enabled', { environment: 'twin' }),
    ],
    again: 'is refused',
  },
];

const complete = (about: Told) => ({
  ...{ project: null, environment: null, featureName: null, data: null, preData: null, tags: [] },
  ...about,
});

describe.each(rows)('to $write', ({ given: before, asks, tells, again, by = mia }) => {
  beforeAll(async () => {
    await features.database.transaction(({ query }) => query('truncate feature, tag cascade'));
    await before?.();
    await features.clearOutbox();
    request = [];
  });
  let request: Asked[] = [];

  it(`tells ${tells.length === 0 ? 'nothing' : tells.map(({ type }) => type).join(', ')}`, async () => {
    listening = request;
    await asks().finally(() => (listening = undefined));
    const told = await features.emittedEvents();
    expect(told).toEqual(
      tells.map((about) => ({
        ...complete(about),
        ...{ createdAt: expect.any(String), createdBy: by.name, createdByUserId: by.id },
      })),
    );
  });

  it('gives the same answer to the same Idempotency-Key, and tells nothing more', async () => {
    for (const { operation, about, idempotencyKey, reply } of request) {
      expect(await features.call(operation, about, mia, { idempotencyKey })).toEqual(reply);
    }
    expect(await features.emittedEvents()).toHaveLength(tells.length);
  });

  it(`${again} when it comes again`, async () => {
    await features.clearOutbox();
    if (again === 'is refused') {
      await expect(asks()).rejects.toBeInstanceOf(Refusal);
    } else await asks();
    expect(await features.emittedEvents()).toHaveLength(again === 'tells again' ? tells.length : 0);
  });
});

/** What is asked by POST and changes nothing: asked again, it is answered again. */
const withoutEffect = /^call\.features\.(validate-.*|list-.*|get-.*|evaluate-.*)$/;

it('knows every write, and so that each is done once with an Idempotency-Key', () => {
  const writes = operations.filter(
    (operation) => operation.http?.method !== 'GET' && serviceOf(operation) === 'features',
  );
  const effective = writes.map(({ subject }) => subject).filter((subject) => !withoutEffect.test(subject));
  expect(effective.filter((subject) => !everAsked.has(subject))).toEqual([]);
});

/** What other services tell of: who may do what, and what is agreed on. */
const ofOthers = /^(change-|api-token-|pat-|user-|role-|group-|project-(access|user|group)-|setting-|service-account-)/;
/** What the interface lists and nothing here does: the legacy of Unleash, and what there is only in its other editions. */
const ofNobody = /^(drop-|addon-|banner-|signal-|actions-|public-signup-|client-|db-pool-)|-import$|^feature-updated$/;

it('lists every event that features tell', () => {
  const told = new Set(rows.flatMap(({ tells }) => tells.map(({ type }) => type)));
  expect(eventTypes.filter((type) => told.has(type))).toEqual(
    eventTypes.filter((type) => !ofOthers.test(type) && !ofNobody.test(type)),
  );
});
