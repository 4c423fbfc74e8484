import { implement } from '@bunting/bus';
import { AddProjectEnvironment } from '@bunting/contracts';
import { addProjectEnvironment } from '../../domain/projects/project-environment.ts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import { lockProject } from '../projects/lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const addProjectEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddProjectEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const target = { id: params.projectId, caller, access: AddProjectEnvironment.permission };
      const locked = await lockProject(tx, target);
      const { environment } = body;
      const event = addProjectEnvironment(locked, environment);
      const connected = await tx.projects.connect(locked.project.id, environment);
      if (!connected) throw unknownEnvironment(environment, '/body/environment');
      tx.features.emitStates(await tx.projects.featureNames(locked.project.id));
      tx.events.emit([event]);
      return null;
    }),
  );
