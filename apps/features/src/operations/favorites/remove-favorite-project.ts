import { implement } from '@bunting/bus';
import { RemoveFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setProjectFavorite } from './set-project-favorite.ts';

export const removeFavoriteProjectEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveFavoriteProject, (request) => setProjectFavorite(work, request, false));
