import { implement } from '@bunting/bus';
import { AddProjectAccess } from '@bunting/contracts';
import { addRoles, rolesToAdd } from '../../domain/rights/project-roles.ts';
import type { GatewayContext } from '../context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const addProjectAccessEndpoint = (context: GatewayContext) =>
  implement(AddProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...rolesToAdd(body) }, (before) => addRoles(before, project, body)),
    );
  });
