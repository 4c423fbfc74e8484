import { implement } from '@bunting/bus';
import { authorise, SetVariantsOfEnvironments } from '@bunting/contracts';
import { setVariantsOfEnvironments } from '../../domain/variants/feature-variants.ts';
import { inEnvironment } from '../../domain/features/feature-in-environment.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const setVariantsOfEnvironmentsEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetVariantsOfEnvironments, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
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
  );
