import { implement } from '@bunting/bus';
import { RemoveDependency } from '@bunting/contracts';
import { removeDependency } from '../../domain/dependency.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const removeDependencyEndpoint = (work: UnitOfWork) =>
  implement(RemoveDependency, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const feature = await tx.features.getFamilyForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependency.permission, { project: feature.project });
      await carryOut(tx, removeDependency(feature, params.parent), caller);
      return null;
    }),
  );
