import { implement } from '@bunting/bus';
import { RemoveFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setFavorite } from './favorite-project.ts';

export const removeFavoriteProjectEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveFavoriteProject, (request) => setFavorite(work, request, false));
