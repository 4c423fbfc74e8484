import { implement } from '@bunting/bus';
import { authorise, DeleteFeature } from '@bunting/contracts';
import { noFeatureFlag } from '../../domain/refusals.ts';
import { deleteArchivedFeatures } from './delete-archived-features.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const feature = await tx.features.findForUpdate(params.featureName);
      authorise(caller, DeleteFeature.permission, { project: feature?.project });
      if (feature === undefined) throw noFeatureFlag();
      await deleteArchivedFeatures(tx, [feature]);
      return null;
    }),
  );
