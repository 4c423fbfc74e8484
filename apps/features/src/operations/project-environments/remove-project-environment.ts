import { implement } from '@bunting/bus';
import { RemoveProjectEnvironment } from '@bunting/contracts';
import { removeProjectEnvironment, withoutEnvironment } from '../../domain/project-environments/project-environment.ts';
import { authoriseAndLockProject } from '../projects/authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const removeProjectEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveProjectEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { projectId, environment } = params;
      const target = { id: projectId, caller, access: RemoveProjectEnvironment.permission };
      const event = removeProjectEnvironment(await authoriseAndLockProject(tx, target), environment);
      const features = await tx.features.findAllForUpdate(await tx.projects.featureNames(projectId));
      await tx.projects.disconnect(projectId, environment, [event]);
      await tx.features.save(
        features.map((feature) => withoutEnvironment(feature, environment)),
        [],
      );
      return null;
    }),
  );
