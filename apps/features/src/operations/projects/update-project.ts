import { implement } from '@bunting/bus';
import { UpdateProject } from '@bunting/contracts';
import { updateProject } from '../../domain/projects/project.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import { saveProject } from './save-project.ts';
import type { FeaturesContext } from '../context.ts';

export const updateProjectEndpoint = ({ transaction, bus }: FeaturesContext) =>
  implement(UpdateProject, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      const { project } = await authoriseAndLockProject(tx, {
        id: params.projectId,
        caller,
        access: UpdateProject.permission,
      });
      await saveProject(tx, { before: project, decision: updateProject(project, body) }, request, bus);
      return null;
    }),
  );
