import { implement } from '@bunting/bus';
import { authorise, RemoveFeatureTag } from '@bunting/contracts';
import { removeTag } from '../../domain/feature-tags/feature-tags.ts';
import { noFeatureFlag } from '../../domain/refusals.ts';
import { saveDecision } from '../save-decisions.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFeatureTagEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFeatureTag, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const feature = await tx.features.findForUpdate(params.featureName);
      // Without a feature there is no project: callers with the permission in any project get a 404, others a 403.
      authorise(caller, RemoveFeatureTag.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      await saveDecision(tx, removeTag(feature, params), caller);
      return null;
    }),
  );
