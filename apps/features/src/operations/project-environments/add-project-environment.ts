import { implement } from '@bunting/bus';
import { AddProjectEnvironment } from '@bunting/contracts';
import { addProjectEnvironment } from '../../domain/project-environments/project-environment.ts';
import { authoriseAndLockProject } from '../projects/authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const addProjectEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddProjectEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const target = { id: params.projectId, caller, access: AddProjectEnvironment.permission };
      const { environment } = body;
      const locked = await authoriseAndLockProject(tx, target);
      const exists = await tx.environments.lockShared(environment);
      const event = addProjectEnvironment(locked, environment, exists);
      await tx.projects.connect(params.projectId, environment, [event]);
      await tx.features.emitStates(await tx.projects.featureNames(params.projectId));
      return null;
    }),
  );
