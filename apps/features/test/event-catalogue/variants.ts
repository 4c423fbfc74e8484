import {
  PatchEnvironmentVariants,
  PatchFeatureVariants,
  SetEnvironmentVariants,
  SetFeatureVariants,
  SetVariantsOfEnvironments,
} from '@bunting/contracts';
import { type FeatureInEnvironment } from '../../src/features/feature.ts';
import { type CatalogueRow, send } from '../event-catalogue.ts';
import {
  developmentEvent,
  developmentPath,
  lampEvent,
  lampPath,
  storedFeatures,
  variant,
  variantOne,
  variantsData,
} from './fixtures.ts';

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
