import { implement } from '@bunting/bus';
import { PatchEnvironmentVariants } from '@bunting/contracts';
import { patchEnvironmentVariants } from '../../domain/feature-variants.ts';
import { inEnvironment } from '../../domain/strategy.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { carryOut } from '../carry-out.ts';

export const patchEnvironmentVariantsEndpoint = (work: UnitOfWork) =>
  implement(PatchEnvironmentVariants, (asked) =>
    work(asked, async (tx) => {
      const { params, body, caller } = asked;
      const { feature, surroundings } = await tx.features.getForUpdate(params.projectId, params.featureName);
      authorise(caller, PatchEnvironmentVariants.permission, {
        project: feature.project,
        environment: params.environment,
      });
      const after = await carryOut(
        tx,
        patchEnvironmentVariants(feature, params.environment, body, surroundings),
        caller,
      );
      return { version: 1, variants: [...inEnvironment(after, params.environment).variants] };
    }),
  );
