import { implement } from '@bunting/bus';
import { ReviveProject } from '@bunting/contracts';
import { reviveProject } from '../../domain/projects/project.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const reviveProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ReviveProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const target = { id: params.projectId, caller, access: ReviveProject.permission, orArchived: true };
      const { project, isArchived } = await authoriseAndLockProject(tx, target);
      if (!isArchived) return null;
      await tx.projects.setArchived(project.id, null, [reviveProject(project)]);
      return null;
    }),
  );
