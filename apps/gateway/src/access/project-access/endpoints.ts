import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { addRoles, rolesToAdd } from './project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { changeProjectRoles } from '../../operations/project-access/change-project-roles.ts';
import { withExistingProject } from '../../operations/project-access/with-existing-project.ts';

export const addProjectAccessEndpoint = (context: GatewayContext) =>
  implement(AddProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...rolesToAdd(body) }, (before) => addRoles(before, project, body)),
    );
  });
