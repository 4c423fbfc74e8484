import { type Endpoint, reads } from '@bunting/bus';
import {
  authorise,
  GetEnvironmentVariants,
  GetFeatureVariants,
  PatchEnvironmentVariants,
  PatchFeatureVariants,
  SetEnvironmentVariants,
  SetFeatureVariants,
  SetVariantsOfEnvironments,
} from '@bunting/contracts';
import { type Feature, inEnvironment } from '../features/feature.ts';
import {
  patchEnvironmentVariants,
  patchVariants,
  setEnvironmentVariants,
  setVariants,
  setVariantsOfEnvironments,
  variantsOfFirstEnvironment,
} from './variant.ts';
import type { FeaturesContext } from '../context.ts';
import { editFeature } from '../features/endpoints.ts';
import type { ProjectContext } from '../projects/project-context.ts';

export function variantEndpoints({ featureParts, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetEnvironmentVariants, ({ params }) => featureParts.environmentVariants(params)),

    reads(GetFeatureVariants, ({ params }) => featureParts.variants(params)),

    editFeature(PatchEnvironmentVariants, transaction, {
      rule: (feature, { params, body }, context) =>
        patchEnvironmentVariants(feature, params.environment, body, context),
      reply: replyWithEnvironment,
    }),

    editFeature(PatchFeatureVariants, transaction, {
      rule: (feature, { body }, context) => patchVariants(feature, body, context),
      reply: replyWithFirstEnvironment,
    }),

    editFeature(SetEnvironmentVariants, transaction, {
      rule: (feature, { params, body }, context) => setEnvironmentVariants(feature, params.environment, body, context),
      reply: replyWithEnvironment,
    }),

    editFeature(SetFeatureVariants, transaction, {
      rule: (feature, { body }, context) => setVariants(feature, body, context),
      reply: replyWithFirstEnvironment,
    }),

    editFeature(SetVariantsOfEnvironments, transaction, {
      rule: (feature, { body, caller }, context) => {
        const { environments = [], variants = [] } = body;
        for (const environment of environments) {
          authorise(caller, SetVariantsOfEnvironments.permission, { project: feature.project, environment });
        }
        return setVariantsOfEnvironments(feature, environments, variants, context);
      },
      reply: (after, { body }) => {
        const environment = body.environments?.[0];
        return {
          version: 1,
          variants: environment === undefined ? [] : [...inEnvironment(after, environment).variants],
        };
      },
    }),
  ];
}

function replyWithEnvironment(after: Feature, { params }: { readonly params: { readonly environment: string } }) {
  return { version: 1, variants: [...inEnvironment(after, params.environment).variants] };
}

function replyWithFirstEnvironment(after: Feature, _request: unknown, context: ProjectContext) {
  return { version: 1, variants: [...variantsOfFirstEnvironment(after, context)] };
}
