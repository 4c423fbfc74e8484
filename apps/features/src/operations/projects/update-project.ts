import { implement } from '@bunting/bus';
import { UpdateProject } from '@bunting/contracts';
import { updateProject } from '../../domain/project.ts';
import { foundProject } from './found-project.ts';
import { keepProject } from './keep-project.ts';
import type { FeaturesContext } from '../context.ts';

export const updateProjectEndpoint = ({ work, hideProject: hide }: FeaturesContext) =>
  implement(UpdateProject, (request) =>
    work(request, async (tx) => {
      const { params, body, caller } = request;
      const { project } = await foundProject(tx, { id: params.projectId, caller, access: UpdateProject.permission });
      await keepProject(tx, project, updateProject(project, body), request, hide);
      return null;
    }),
  );
