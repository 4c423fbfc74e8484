import { implement } from '@bunting/bus';
import { SetProjectAccess } from '@bunting/contracts';
import { rolesToSet, setRoles } from '../../access/project-access/project-roles.ts';
import type { GatewayContext } from '../../access/context.ts';
import { changeProjectRoles } from './change-project-roles.ts';
import { withExistingProject } from './with-existing-project.ts';

export const setProjectAccessEndpoint = (context: GatewayContext) =>
  implement(SetProjectAccess, (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    return withExistingProject(context, request, project, (tx) =>
      changeProjectRoles(tx, { caller, project, ...rolesToSet(body) }, (before) => setRoles(before, project, body)),
    );
  });
