import { implement } from '@bunting/bus';
import { UpdateFeature } from '@bunting/contracts';
import { updateFeature } from '../../domain/feature-metadata.ts';
import { storedFeature } from '../../domain/feature-rules.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const updateFeatureEndpoint = ({ work }: FeaturesContext) =>
  implement(UpdateFeature, (request) =>
    work(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, UpdateFeature.permission, { project: feature.project });
      return storedFeature(await carryOut(tx, updateFeature(feature, body), caller));
    }),
  );
