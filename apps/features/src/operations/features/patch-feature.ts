import { implement } from '@bunting/bus';
import { PatchFeature } from '@bunting/contracts';
import { patchFeature } from '../../domain/feature-metadata.ts';
import { storedFeature } from '../../domain/feature-rules.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const patchFeatureEndpoint = ({ work }: FeaturesContext) =>
  implement(PatchFeature, (request) =>
    work(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, PatchFeature.permission, { project: feature.project });
      return storedFeature(await carryOut(tx, patchFeature(feature, body), caller));
    }),
  );
