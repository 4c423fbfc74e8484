import { expect } from 'vitest';
import {
  AddFeatureLink,
  CloneFeature,
  CompleteFeature,
  CreateFeature,
  DisableFeature,
  EnableFeature,
  ExportFeatures,
  ImportFeatures,
  MoveFeature,
  PatchFeature,
  RemoveFeatureLink,
  SetFeatureTypeLifetime,
  SetStale,
  systemCaller,
  UncompleteFeature,
  UpdateFeature,
  UpdateFeatureLink,
  newFeatureMetadata,
} from '@bunting/contracts';
import { runHousekeeping } from '../../src/housekeeping/background.ts';
import { type CatalogueRow, direct, send } from '../event-catalogue.ts';
import { otherMetadata } from '../builders.ts';
import { testUnitOfWork } from '../features-unit-of-work.ts';
import {
  archivedAt,
  contextFieldNamed,
  developmentEvent,
  developmentPath,
  disabledStrategy,
  flexibleRollout,
  inShop,
  lampEvent,
  lampPath,
  secondStrategy,
  secondStrategyId,
  shopPath,
  socketDependency,
  storedFeatures,
  storedLamp,
  strategy,
  tagTypeNamed,
  variantOne,
  variantsData,
} from './fixtures.ts';

const hallTag = { type: 'room', value: 'hall' };

/** A new feature as events show it. */
const createdFeature = (name: string) => ({
  name,
  ...newFeatureMetadata,
  project: 'shop',
  archived: false,
  archivedAt: null,
  lastSeenAt: null,
  createdAt: expect.any(String),
});

const ticket = { id: 'l1', url: 'https://a.example/', title: 'Ticket' };
const floorConstraint = { contextName: 'floor', operator: 'IN' as const, values: ['1'] };

/** Runs housekeeping once, with a retention of 90 days. */
const housekeeping = direct(async ({ url }) => {
  const { database, transaction } = await testUnitOfWork(url);
  await runHousekeeping(transaction, 90).finally(() => database.close());
});

export const featureRows: readonly CatalogueRow[] = [
  {
    write: 'creating a feature with a new tag',
    request: send(CreateFeature, {
      params: shopPath,
      body: { name: 'lamp', tags: [{ type: 'simple', value: 'new' }] },
    }),
    emits: [
      { type: 'tag-created', data: { type: 'simple', value: 'new' } },
      lampEvent('feature-created', { data: createdFeature('lamp'), tags: [{ type: 'simple', value: 'new' }] }),
    ],
    repeated: 'is refused',
  },
  {
    write: 'cloning a feature with a strategy and a parent',
    given: storedFeatures({ name: 'socket' }, { strategies: [strategy], dependencies: [socketDependency] }),
    request: send(CloneFeature, { params: lampPath, body: { name: 'copy' } }),
    emits: [
      { type: 'feature-created', ...inShop, featureName: 'copy', data: createdFeature('copy') },
      {
        type: 'feature-strategy-add',
        ...inShop,
        featureName: 'copy',
        environment: 'development',
        data: { ...strategy, id: expect.any(String) },
      },
      { type: 'feature-dependency-added', ...inShop, featureName: 'copy', data: socketDependency },
    ],
    repeated: 'is refused',
  },
  {
    write: 'replacing the metadata of a feature',
    given: storedFeatures({}),
    request: send(UpdateFeature, {
      params: lampPath,
      body: { name: 'lamp', ...otherMetadata },
    }),
    emits: [
      lampEvent('feature-metadata-updated', {
        preData: storedLamp(),
        data: storedLamp(otherMetadata),
      }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'patching a feature to be stale',
    given: storedFeatures({}),
    request: send(PatchFeature, { params: lampPath, body: [{ op: 'replace', path: '/stale', value: true }] }),
    emits: [
      lampEvent('feature-metadata-updated', { preData: storedLamp(), data: storedLamp({ stale: true }) }),
      lampEvent('feature-stale-on'),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'adding a link to a feature',
    given: storedFeatures({}),
    request: send(AddFeatureLink, { params: lampPath, body: { url: 'tickets.example/7', title: 'Ticket' } }),
    emits: [lampEvent('feature-link-added', { data: { url: 'https://tickets.example/7', title: 'Ticket' } })],
    repeated: 'emits again',
  },
  {
    write: 'replacing a link of a feature',
    given: storedFeatures({ links: [ticket] }),
    request: send(UpdateFeatureLink, { params: { ...lampPath, linkId: 'l1' }, body: { url: 'https://b.example/' } }),
    emits: [
      lampEvent('feature-link-updated', {
        preData: { url: 'https://a.example/', title: 'Ticket' },
        data: { url: 'https://b.example/', title: null },
      }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'removing a link from a feature',
    given: storedFeatures({ links: [ticket] }),
    request: send(RemoveFeatureLink, { params: { ...lampPath, linkId: 'l1' } }),
    emits: [lampEvent('feature-link-removed', { preData: { url: 'https://a.example/', title: 'Ticket' } })],
    repeated: 'is refused',
  },
  {
    write: 'marking features as stale',
    given: storedFeatures({}, { name: 'known', stale: true }),
    request: send(SetStale, { params: shopPath, body: { features: ['lamp', 'known'], stale: true } }),
    emits: [lampEvent('feature-stale-on')],
    repeated: 'emits nothing',
  },
  {
    write: 'marking features as no longer stale',
    given: storedFeatures({ stale: true }),
    request: send(SetStale, { params: shopPath, body: { features: ['lamp'], stale: false } }),
    emits: [lampEvent('feature-stale-off')],
    repeated: 'emits nothing',
  },
  {
    write: 'running housekeeping on a feature that outlived its type',
    given: storedFeatures({ createdAt: '2020-01-01T00:00:00.000Z' }),
    request: housekeeping,
    emits: [lampEvent('feature-potentially-stale-on')],
    repeated: 'emits nothing',
    actor: systemCaller,
  },
  {
    write: 'moving a feature to another project',
    given: storedFeatures({}),
    request: send(MoveFeature, { params: lampPath, body: { newProjectId: 'yard' } }),
    emits: [lampEvent('feature-project-change', { project: 'yard', data: { oldProject: 'shop', newProject: 'yard' } })],
    repeated: 'is refused',
  },
  {
    write: 'enabling a feature that has no strategy',
    given: storedFeatures({}),
    request: send(EnableFeature, { params: developmentPath, query: {} }),
    emits: [
      developmentEvent('feature-strategy-add', { data: flexibleRollout('lamp') }),
      developmentEvent('feature-environment-enabled'),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'enabling a feature together with its disabled strategies',
    given: storedFeatures({ strategies: [disabledStrategy, secondStrategy] }),
    request: send(EnableFeature, { params: developmentPath, query: { shouldActivateDisabledStrategies: true } }),
    emits: [
      developmentEvent('feature-strategy-update', { preData: disabledStrategy, data: strategy }),
      developmentEvent('feature-environment-enabled'),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'disabling a feature',
    given: storedFeatures({ enabled: true, strategies: [strategy] }),
    request: send(DisableFeature, { params: developmentPath }),
    emits: [developmentEvent('feature-environment-disabled')],
    repeated: 'emits nothing',
  },
  {
    write: 'completing a feature',
    given: storedFeatures({}),
    request: send(CompleteFeature, { params: lampPath, body: { status: 'kept', statusValue: 'one' } }),
    emits: [lampEvent('feature-completed', { data: { status: 'kept', statusValue: 'one', kept: true } })],
    repeated: 'emits nothing',
  },
  {
    write: 'reverting the completion of a feature',
    given: storedFeatures({
      lifecycle: [
        { stage: 'initial', enteredStageAt: archivedAt },
        { stage: 'completed', status: 'kept', enteredStageAt: archivedAt },
      ],
    }),
    request: send(UncompleteFeature, { params: lampPath }),
    emits: [lampEvent('feature-uncompleted')],
    repeated: 'emits nothing',
  },
  {
    write: 'setting the lifetime of a feature type',
    request: send(SetFeatureTypeLifetime, { params: { id: 'operational' }, body: { lifetimeDays: 9 } }),
    emits: [
      {
        type: 'feature-type-updated',
        preData: expect.objectContaining({ id: 'operational', lifetimeDays: 7 }),
        data: expect.objectContaining({ id: 'operational', lifetimeDays: 9 }),
      },
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'exporting features',
    given: storedFeatures({ tags: [] }),
    request: send(ExportFeatures, { body: { environment: 'development', features: ['lamp'] } }),
    emits: [
      {
        type: 'features-exported',
        data: { environment: 'development', tag: null, project: null, features: ['lamp'] },
      },
    ],
    repeated: 'emits again',
  },
  {
    write: 'importing features',
    given: storedFeatures({ name: 'socket' }, { strategies: [strategy], tags: [] }),
    request: send(ImportFeatures, {
      body: {
        project: 'shop',
        environment: 'development',
        data: {
          features: [
            { name: 'lamp', type: 'release', description: 'bright' },
            { name: 'torch', type: 'release' },
          ],
          featureStrategies: [
            {
              name: 'default',
              id: secondStrategyId,
              featureName: 'lamp',
              constraints: [floorConstraint],
            },
          ],
          featureEnvironments: [
            { name: 'lamp', featureName: 'lamp', environment: 'development', enabled: true, variants: [variantOne] },
          ],
          contextFields: [{ name: 'floor' }],
          featureTags: [{ featureName: 'lamp', tagType: hallTag.type, tagValue: hallTag.value }],
          tagTypes: [{ name: 'room' }],
          segments: [],
          dependencies: [{ feature: 'lamp', dependencies: [{ feature: 'socket' }] }],
        },
      },
    }),
    emits: [
      { type: 'context-field-created', data: contextFieldNamed('floor') },
      { type: 'tag-type-created', data: tagTypeNamed('room') },
      { type: 'tag-created', data: hallTag },
      lampEvent('feature-metadata-updated', {
        preData: storedLamp(),
        data: storedLamp({ description: 'bright' }),
        tags: [],
      }),
      lampEvent('feature-tagged', { data: hallTag, tags: [hallTag] }),
      developmentEvent('feature-strategy-remove', { preData: strategy, tags: [hallTag] }),
      developmentEvent('feature-strategy-add', {
        data: {
          ...strategy,
          id: secondStrategyId,
          constraints: [{ ...floorConstraint, inverted: false, caseInsensitive: false }],
        },
        tags: [hallTag],
      }),
      developmentEvent('feature-environment-variants-updated', {
        preData: variantsData([]),
        data: variantsData([variantOne]),
        tags: [hallTag],
      }),
      developmentEvent('feature-environment-enabled', { tags: [hallTag] }),
      lampEvent('feature-dependency-added', { data: socketDependency, tags: [hallTag] }),
      { type: 'feature-created', ...inShop, featureName: 'torch', data: createdFeature('torch') },
      { type: 'features-imported', ...inShop, environment: 'development' },
    ],
    repeated: 'emits nothing',
  },
];
