import { implement } from '@bunting/bus';
import { UncompleteFeature } from '@bunting/contracts';
import { uncompleteFeature } from '../../domain/lifecycle.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const uncompleteFeatureEndpoint = (work: UnitOfWork) =>
  implement(UncompleteFeature, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, UncompleteFeature.permission, { project: feature.project });
      await carryOut(tx, uncompleteFeature(feature), caller);
      return null;
    }),
  );
