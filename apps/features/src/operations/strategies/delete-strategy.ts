import { implement } from '@bunting/bus';
import { DeleteStrategy } from '@bunting/contracts';
import { removeStrategy } from '../../domain/strategy.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const deleteStrategyEndpoint = (work: UnitOfWork) =>
  implement(DeleteStrategy, (asked) =>
    work(asked, async (tx) => {
      const { params, caller } = asked;
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, DeleteStrategy.permission, { project: feature.project, environment: params.environment });
      await carryOut(tx, removeStrategy(feature, params), caller);
      return null;
    }),
  );
