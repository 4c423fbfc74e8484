import { implement } from '@bunting/bus';
import { DeleteFeature, notFound } from '@bunting/contracts';
import { authorise } from '../authorise.ts';
import { findVisible } from '../visibility.ts';
import { deleteArchivedFeatures } from './delete-archived-features.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const feature = findVisible(request, await tx.features.findForUpdate(params.featureName));
      authorise(caller, DeleteFeature.permission, { project: feature?.project });
      if (feature === undefined) throw notFound('No feature flag found');
      await deleteArchivedFeatures(tx, [feature]);
      return null;
    }),
  );
