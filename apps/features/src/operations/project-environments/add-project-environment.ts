import { implement } from '@bunting/bus';
import { AddProjectEnvironment, invalid, refusal } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { lockProject } from '../projects/lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const addProjectEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddProjectEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const target = { id: params.projectId, caller, access: AddProjectEnvironment.permission };
      const { project, environments } = await lockProject(tx, target);
      const { environment } = body;
      if (environments.includes(environment)) {
        throw refusal('ConflictError', `${project.id} already has the environment ${environment} enabled`);
      }
      if (!(await tx.projects.connect(project.id, environment))) {
        const path = '/body/environment';
        throw invalid(`Environment ${shortName(environment)} does not exist: see the \`${path}\` property.`, path);
      }
      tx.features.emitStates(await tx.projects.featureNames(project.id));
      tx.events.emit([{ type: 'project-environment-added', project: project.id, environment }]);
      return null;
    }),
  );
