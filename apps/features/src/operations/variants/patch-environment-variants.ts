import { implement } from '@bunting/bus';
import { authorise, PatchEnvironmentVariants } from '@bunting/contracts';
import { patchEnvironmentVariants } from '../../domain/variants/feature-variants.ts';
import { inEnvironment } from '../../domain/features/feature-in-environment.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const patchEnvironmentVariantsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(PatchEnvironmentVariants, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
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
  );
