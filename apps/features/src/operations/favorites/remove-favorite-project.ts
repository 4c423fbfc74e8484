import { implement } from '@bunting/bus';
import { RemoveFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setFavorite } from './set-project-favorite.ts';

export const removeFavoriteProjectEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveFavoriteProject, (request) => setFavorite(work, request, false));
