import { implement } from '@bunting/bus';
import { AddFavoriteProject } from '@bunting/contracts';
import { projectFavorited } from '../../domain/favorites/favorite-events.ts';
import { authoriseAndLockProject } from '../projects/authorise-and-lock-project.ts';
import type { FeaturesContext } from '../context.ts';

export const addFavoriteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddFavoriteProject, (request) =>
    transaction(request, async (tx) => {
      const { params, caller } = request;
      const target = { id: params.projectId, caller, access: AddFavoriteProject.permission };
      const { project } = await authoriseAndLockProject(tx, target);
      await tx.projects.addFavorite(project.id, caller.id, [projectFavorited(project)]);
      return null;
    }),
  );
