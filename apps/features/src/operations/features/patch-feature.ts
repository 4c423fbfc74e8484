import { implement } from '@bunting/bus';
import { PatchFeature } from '@bunting/contracts';
import { patchFeature } from '../../domain/feature-metadata.ts';
import { storedFeature } from '../../domain/feature-rules.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const patchFeatureEndpoint = (work: UnitOfWork) =>
  implement(PatchFeature, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, PatchFeature.permission, { project: feature.project });
      return storedFeature(await carryOut(tx, patchFeature(feature, body), caller));
    }),
  );
