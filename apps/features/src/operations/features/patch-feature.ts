import { implement } from '@bunting/bus';
import { PatchFeature } from '@bunting/contracts';
import { patchFeature } from '../../domain/features/feature-metadata.ts';
import { storedFeature } from '../../domain/features/feature-rules.ts';
import { authorise } from '../authorise.ts';
import { saveAndRecord } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const patchFeatureEndpoint = ({ transaction }: FeaturesContext) =>
  implement(PatchFeature, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, PatchFeature.permission, { project: feature.project });
      return storedFeature(await saveAndRecord(tx, patchFeature(feature, body), caller));
    }),
  );
