import { implement } from '@bunting/bus';
import { notFound, RemoveProjectEnvironment } from '@bunting/contracts';
import { withoutEnvironment } from '../../domain/projects/project.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import { lockProject } from '../projects/lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const removeProjectEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveProjectEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const { projectId, environment } = params;
      const { environments } = await lockProject(tx, {
        id: projectId,
        caller,
        access: RemoveProjectEnvironment.permission,
      });
      if (!environments.includes(environment)) throw notFound(environmentNotFound(environment, projectId));
      const features = await tx.features.findAllForUpdate(await tx.projects.featureNames(projectId));
      await tx.guard.checkDisconnection(projectId, environment);
      await tx.projects.disconnect(projectId, environment);
      await tx.features.save(features.map((feature) => withoutEnvironment(feature, environment)));
      tx.events.emit([{ type: 'project-environment-removed', project: projectId, environment }]);
      return null;
    }),
  );
