import { implement } from '@bunting/bus';
import { DeleteProject, refusal } from '@bunting/contracts';
import { segmentDeleted } from '../../domain/constraints/segment.ts';
import { deleteArchivedFeatures } from '../archive/delete-archived-features.ts';
import { lockProject } from './lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const target = { id: params.projectId, caller, access: DeleteProject.permission, orArchived: true };
      const { project, activeFeatures } = await lockProject(tx, target);
      if (project.id === 'default') {
        throw refusal('InvalidOperationError', 'You can not delete the default project!');
      }
      if (activeFeatures > 0) {
        throw refusal('InvalidOperationError', 'You can not delete a project with active feature flags');
      }
      await deleteArchivedFeatures(tx, await tx.features.findAllForUpdate(await tx.projects.featureNames(project.id)));
      const segments = await tx.projects.remove(project);
      tx.events.emit([...segments.map(segmentDeleted), { type: 'project-deleted', project: project.id }]);
      return null;
    }),
  );
