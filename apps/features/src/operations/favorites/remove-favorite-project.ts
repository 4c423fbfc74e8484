import { implement } from '@bunting/bus';
import { RemoveFavoriteProject } from '@bunting/contracts';
import { projectUnfavorited } from '../../domain/favorites/favorite-events.ts';
import { authoriseAndLockProject } from '../projects/authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const removeFavoriteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFavoriteProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const target = { id: params.projectId, caller, access: RemoveFavoriteProject.permission };
      const { project } = await authoriseAndLockProject(tx, target);
      await tx.projects.removeFavorite(project.id, caller.id, [projectUnfavorited(project)]);
      return null;
    }),
  );
