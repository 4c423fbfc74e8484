import { implement } from '@bunting/bus';
import { DeleteProject } from '@bunting/contracts';
import { segmentDeleted } from '../../domain/segments/segment.ts';
import { deleteProject } from '../../domain/projects/project.ts';
import { deleteArchivedFeatures } from '../archive/delete-archived-features.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const target = { id: params.projectId, caller, access: DeleteProject.permission, orArchived: true };
      const locked = await authoriseAndLockProject(tx, target);
      const event = deleteProject(locked);
      const { project } = locked;
      await deleteArchivedFeatures(tx, await tx.features.findAllForUpdate(await tx.projects.featureNames(project.id)));
      await tx.projects.remove(project, (segments) => [...segments.map(segmentDeleted), event]);
      return null;
    }),
  );
