import { type Endpoint, writes } from '@bunting/bus';
import {
  AddFavoriteFeature,
  AddFavoriteProject,
  RemoveFavoriteFeature,
  RemoveFavoriteProject,
} from '@bunting/contracts';
import { featureFavorited, featureUnfavorited, projectFavorited, projectUnfavorited } from './favorite.ts';
import type { FeaturesContext } from '../context.ts';
import { authoriseAndLockProject } from '../projects/endpoints.ts';
import { noReferences } from '../projects/project-context-store.ts';

export function favoriteEndpoints({ transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    writes(AddFavoriteFeature, transaction, async (tx, { params, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      if (!(await tx.featureFavorites.add(feature.name, caller.id, [featureFavorited(feature)]))) return null;
      // The state of a feature lists the users whose favourite it is.
      await tx.features.emitStates([feature.name]);
      return null;
    }),

    writes(AddFavoriteProject, transaction, async (tx, { params, caller }) => {
      const { project } = await authoriseAndLockProject(tx, AddFavoriteProject, { params, caller });
      await tx.projects.addFavorite(project.id, caller.id, [projectFavorited(project)]);
      return null;
    }),

    writes(RemoveFavoriteFeature, transaction, async (tx, { params, caller }) => {
      const { feature } = await tx.features.getForUpdate(params.projectId, params.featureName, noReferences);
      if (!(await tx.featureFavorites.remove(feature.name, caller.id, [featureUnfavorited(feature)]))) return null;
      // The state of a feature lists the users whose favourite it is.
      await tx.features.emitStates([feature.name]);
      return null;
    }),

    writes(RemoveFavoriteProject, transaction, async (tx, { params, caller }) => {
      const { project } = await authoriseAndLockProject(tx, RemoveFavoriteProject, { params, caller });
      await tx.projects.removeFavorite(project.id, caller.id, [projectUnfavorited(project)]);
      return null;
    }),
  ];
}
