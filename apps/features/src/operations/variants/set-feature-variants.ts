import { implement } from '@bunting/bus';
import { authorise, SetFeatureVariants } from '@bunting/contracts';
import { setVariants, variantsOfFirstEnvironment } from '../../domain/variants/feature-variants.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const setFeatureVariantsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetFeatureVariants, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature, projectContext } = await tx.features.getForUpdate(
        params.projectId,
        params.featureName,
        noReferences,
      );
      authorise(caller, SetFeatureVariants.permission, { project: feature.project });
      const after = await saveDecision(tx, setVariants(feature, body, projectContext), caller);
      return { version: 1, variants: [...variantsOfFirstEnvironment(after, projectContext)] };
    }),
  );
