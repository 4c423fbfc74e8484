import { implement } from '@bunting/bus';
import { ArchiveProject } from '@bunting/contracts';
import { archiveProject } from '../../domain/projects/project.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ArchiveProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller, now } = request;
      const target = { id: params.projectId, caller, access: ArchiveProject.permission, orArchived: true };
      const locked = await authoriseAndLockProject(tx, target);
      if (locked.isArchived) return null;
      const event = archiveProject(locked);
      await tx.projects.setArchived(locked.project.id, now.toISOString(), [event]);
      return null;
    }),
  );
