import { implement } from '@bunting/bus';
import { authorise, SetEnvironmentVariants } from '@bunting/contracts';
import { setEnvironmentVariants } from '../../domain/variants/feature-variants.ts';
import { inEnvironment } from '../../domain/features/feature-in-environment.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const setEnvironmentVariantsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetEnvironmentVariants, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
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
  );
