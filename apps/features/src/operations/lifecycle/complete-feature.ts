import { implement } from '@bunting/bus';
import { CompleteFeature } from '@bunting/contracts';
import { completeFeature } from '../../domain/lifecycle.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const completeFeatureEndpoint = ({ work }: FeaturesContext) =>
  implement(CompleteFeature, (request) =>
    work(request, async (tx) => {
      const { params, body, caller, now } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, CompleteFeature.permission, { project: feature.project });
      await carryOut(tx, completeFeature(feature, body, now.toISOString()), caller);
      return null;
    }),
  );
