import {
  AddStrategy,
  CreateStrategyType,
  DeleteStrategy,
  DeleteStrategyType,
  DeprecateStrategyType,
  PatchEnvironmentVariants,
  PatchFeatureVariants,
  PatchStrategy,
  ReactivateStrategyType,
  SetEnvironmentVariants,
  SetFeatureVariants,
  SetStrategyOrder,
  SetVariantsOfEnvironments,
  UpdateStrategy,
  UpdateStrategyType,
} from '@bunting/contracts';
import type { FeatureInEnvironment } from '../../src/features/feature.ts';
import { type CatalogueRow, inOrder, send, type Step } from '../event-catalogue.ts';
import {
  developmentEvent,
  developmentPath,
  disabledStrategy,
  flexibleRollout,
  lampEvent,
  lampPath,
  secondStrategy,
  secondStrategyId,
  storedFeatures,
  strategy,
  strategyId,
  variant,
  variantOne,
  variantsData,
} from './fixtures.ts';

const strategyPath = { ...developmentPath, strategyId };

export const strategyRows: readonly CatalogueRow[] = [
  {
    write: 'adding a strategy',
    given: storedFeatures({}),
    request: send(AddStrategy, { params: developmentPath, body: { name: 'flexibleRollout' } }),
    emits: [developmentEvent('feature-strategy-add', { data: flexibleRollout('lamp') })],
    repeated: 'emits again',
  },
  {
    write: 'replacing a strategy',
    given: storedFeatures({ strategies: [strategy] }),
    request: send(UpdateStrategy, { params: strategyPath, body: { name: 'default', title: 'All', parameters: {} } }),
    emits: [developmentEvent('feature-strategy-update', { preData: strategy, data: { ...strategy, title: 'All' } })],
    repeated: 'emits nothing',
  },
  {
    write: 'patching a strategy',
    given: storedFeatures({ strategies: [strategy] }),
    request: send(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/title', value: 'All' }] }),
    emits: [developmentEvent('feature-strategy-update', { preData: strategy, data: { ...strategy, title: 'All' } })],
    repeated: 'emits nothing',
  },
  {
    write: 'disabling the last active strategy of an enabled feature',
    given: storedFeatures({ enabled: true, strategies: [strategy] }),
    request: send(PatchStrategy, { params: strategyPath, body: [{ op: 'replace', path: '/disabled', value: true }] }),
    emits: [
      developmentEvent('feature-strategy-update', { preData: strategy, data: disabledStrategy }),
      developmentEvent('feature-environment-disabled'),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting the last strategy of an enabled feature',
    given: storedFeatures({ enabled: true, strategies: [strategy] }),
    request: send(DeleteStrategy, { params: strategyPath }),
    emits: [
      developmentEvent('feature-environment-disabled'),
      developmentEvent('feature-strategy-remove', { preData: strategy }),
    ],
    repeated: 'is refused',
  },
  {
    write: 'reordering strategies',
    given: storedFeatures({ strategies: [strategy, secondStrategy] }),
    request: send(SetStrategyOrder, { params: developmentPath, body: [{ id: strategyId, sortOrder: 7 }] }),
    emits: [
      developmentEvent('strategy-order-changed', {
        preData: { strategyIds: [strategyId, secondStrategyId] },
        data: { strategyIds: [secondStrategyId, strategyId] },
      }),
    ],
    repeated: 'emits nothing',
  },
];

const createStrategyType = (name: string): Step => send(CreateStrategyType, { body: { name, parameters: [] } });

/** A strategy type as events show it. */
const strategyTypeNamed = (name: string, description: string | null = null) => ({
  name,
  title: null,
  displayName: name,
  description,
  editable: true,
  deprecated: false,
  parameters: [],
});

export const strategyTypeRows: readonly CatalogueRow[] = [
  {
    write: 'creating a strategy type',
    request: createStrategyType('moon'),
    emits: [{ type: 'strategy-created', data: strategyTypeNamed('moon') }],
    repeated: 'is refused',
  },
  {
    write: 'updating a strategy type',
    given: createStrategyType('sun'),
    request: send(UpdateStrategyType, { params: { name: 'sun' }, body: { description: 'By day.', parameters: [] } }),
    emits: [{ type: 'strategy-updated', data: strategyTypeNamed('sun', 'By day.') }],
    repeated: 'emits nothing',
  },
  {
    write: 'deprecating a strategy type',
    given: createStrategyType('comet'),
    request: send(DeprecateStrategyType, { params: { name: 'comet' } }),
    emits: [{ type: 'strategy-deprecated', data: { name: 'comet' } }],
    repeated: 'emits nothing',
  },
  {
    write: 'reactivating a deprecated strategy type',
    given: inOrder(createStrategyType('halley'), send(DeprecateStrategyType, { params: { name: 'halley' } })),
    request: send(ReactivateStrategyType, { params: { name: 'halley' } }),
    emits: [{ type: 'strategy-reactivated', data: { name: 'halley' } }],
    repeated: 'emits nothing',
  },
  {
    write: 'deleting a strategy type',
    given: createStrategyType('pluto'),
    request: send(DeleteStrategyType, { params: { name: 'pluto' } }),
    emits: [{ type: 'strategy-deleted', data: { name: 'pluto' } }],
    repeated: 'is refused',
  },
];

const twoVariants = [variant('one', 500), variant('two', 500)];

const lampEnvironments: Readonly<Record<string, FeatureInEnvironment>> = {
  development: { enabled: false, strategies: [], variants: [variantOne] },
};

export const variantRows: readonly CatalogueRow[] = [
  {
    write: 'setting the variants of a feature in an environment',
    given: storedFeatures({ environments: lampEnvironments }),
    request: send(SetEnvironmentVariants, { params: developmentPath, body: twoVariants }),
    emits: [
      developmentEvent('feature-environment-variants-updated', {
        preData: variantsData([variantOne]),
        data: variantsData(twoVariants),
      }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'patching the variants of a feature in an environment',
    given: storedFeatures({ environments: lampEnvironments }),
    request: send(PatchEnvironmentVariants, { params: developmentPath, body: [{ op: 'remove', path: '/0' }] }),
    emits: [
      developmentEvent('feature-environment-variants-updated', {
        preData: variantsData([variantOne]),
        data: variantsData([]),
      }),
    ],
    repeated: 'is refused',
  },
  {
    write: 'setting the variants of a feature in several environments',
    given: storedFeatures({ environments: lampEnvironments }),
    request: send(SetVariantsOfEnvironments, {
      params: lampPath,
      body: { environments: ['development', 'production'], variants: twoVariants },
    }),
    emits: [
      developmentEvent('feature-environment-variants-updated', {
        preData: variantsData([variantOne]),
        data: variantsData(twoVariants),
      }),
      lampEvent('feature-environment-variants-updated', {
        environment: 'production',
        preData: variantsData([]),
        data: variantsData(twoVariants),
      }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'setting the variants of a feature in all environments',
    given: storedFeatures({ environments: lampEnvironments }),
    request: send(SetFeatureVariants, { params: lampPath, body: twoVariants }),
    emits: [
      lampEvent('feature-variants-updated', { preData: variantsData([variantOne]), data: variantsData(twoVariants) }),
    ],
    repeated: 'emits nothing',
  },
  {
    write: 'patching the variants of a feature in all environments',
    given: storedFeatures({ environments: lampEnvironments }),
    request: send(PatchFeatureVariants, { params: lampPath, body: [{ op: 'replace', path: '', value: twoVariants }] }),
    emits: [
      developmentEvent('feature-environment-variants-updated', {
        preData: variantsData([variantOne]),
        data: variantsData(twoVariants),
      }),
      lampEvent('feature-environment-variants-updated', {
        environment: 'production',
        preData: variantsData([]),
        data: variantsData(twoVariants),
      }),
    ],
    repeated: 'emits nothing',
  },
];
