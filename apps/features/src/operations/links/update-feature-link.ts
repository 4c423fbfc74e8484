import { implement } from '@bunting/bus';
import { authorise, UpdateFeatureLink } from '@bunting/contracts';
import { updateLink } from '../../domain/links/link.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const updateFeatureLinkEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateFeatureLink, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, UpdateFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, updateLink(feature, params.linkId, body), caller);
      return null;
    }),
  );
