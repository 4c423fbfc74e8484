import { type Endpoint, reads, writes } from '@bunting/bus';
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
import { inEnvironment } from '../features/feature.ts';
import {
  patchEnvironmentVariants,
  patchVariants,
  setEnvironmentVariants,
  setVariants,
  setVariantsOfEnvironments,
  variantsOfFirstEnvironment,
} from './variant.ts';
import type { FeaturesContext } from '../context.ts';
import { saveDecision } from '../unit-of-work/save-decisions.ts';
import { noReferences } from '../projects/project-context-store.ts';

export function variantEndpoints({ featureParts, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetEnvironmentVariants, ({ params }) => featureParts.environmentVariants(params)),

    reads(GetFeatureVariants, ({ params }) => featureParts.variants(params)),

    writes(PatchEnvironmentVariants, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, PatchEnvironmentVariants.permission, {
        project: feature.project,
        environment: params.environment,
      });
      const after = await saveDecision(
        tx,
        patchEnvironmentVariants(feature, params.environment, body, projectContext),
        caller,
      );
      return { version: 1, variants: [...inEnvironment(after, params.environment).variants] };
    }),

    writes(PatchFeatureVariants, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, PatchFeatureVariants.permission, { project: feature.project });
      const after = await saveDecision(tx, patchVariants(feature, body, projectContext), caller);
      return { version: 1, variants: [...variantsOfFirstEnvironment(after, projectContext)] };
    }),

    writes(SetEnvironmentVariants, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, SetEnvironmentVariants.permission, {
        project: feature.project,
        environment: params.environment,
      });
      const after = await saveDecision(
        tx,
        setEnvironmentVariants(feature, params.environment, body, projectContext),
        caller,
      );
      return { version: 1, variants: [...inEnvironment(after, params.environment).variants] };
    }),

    writes(SetFeatureVariants, transaction, async (tx, { params, body, caller }) => {
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, SetFeatureVariants.permission, { project: feature.project });
      const after = await saveDecision(tx, setVariants(feature, body, projectContext), caller);
      return { version: 1, variants: [...variantsOfFirstEnvironment(after, projectContext)] };
    }),

    writes(SetVariantsOfEnvironments, transaction, async (tx, { params, body, caller }) => {
      const { environments = [], variants = [] } = body;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, SetVariantsOfEnvironments.permission, { project: feature.project });
      for (const environment of environments) {
        authorise(caller, SetVariantsOfEnvironments.permission, { project: feature.project, environment });
      }
      const after = await saveDecision(
        tx,
        setVariantsOfEnvironments(feature, environments, variants, projectContext),
        caller,
      );
      const [environment] = environments;
      return {
        version: 1,
        variants: environment === undefined ? [] : [...inEnvironment(after, environment).variants],
      };
    }),
  ];
}
