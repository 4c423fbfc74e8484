import { implement } from '@bunting/bus';
import { authorise, RemoveFeatureLink } from '@bunting/contracts';
import { removeLink } from '../../domain/links/link.ts';
import { saveDecision } from '../save-decisions.ts';
import { noReferences } from '../../persistence/projects/project-context-reader.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFeatureLinkEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFeatureLink, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      authorise(caller, RemoveFeatureLink.permission, { project: feature.project });
      await saveDecision(tx, removeLink(feature, params.linkId), caller);
      return null;
    }),
  );
