import { implement } from '@bunting/bus';
import { ArchiveProject, refusal } from '@bunting/contracts';
import { lockProject } from './lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const archiveProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ArchiveProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller, now } = request;
      const target = { id: params.projectId, caller, access: ArchiveProject.permission, orArchived: true };
      const { project, isArchived, activeFeatures } = await lockProject(tx, target);
      if (isArchived) return null;
      if (activeFeatures > 0) {
        throw refusal('InvalidOperationError', 'You can not archive a project with active feature flags');
      }
      await tx.projects.setArchived(project.id, now.toISOString());
      tx.events.emit([{ type: 'project-archived', project: project.id }]);
      return null;
    }),
  );
