import { implement } from '@bunting/bus';
import { RemoveDependencies } from '@bunting/contracts';
import { removeDependencies, requireDependencies } from '../../domain/dependency.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../save-and-record.ts';
import type { FeaturesContext } from '../context.ts';

export const removeDependenciesEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveDependencies, (request) =>
    work(request, async (tx) => {
      const { params, caller } = request;
      const feature = await tx.features.getFamilyForUpdate(params.projectId, params.featureName);
      authorise(caller, RemoveDependencies.permission, { project: feature.project });
      requireDependencies(feature);
      await carryOut(tx, removeDependencies(feature), caller);
      return null;
    }),
  );
