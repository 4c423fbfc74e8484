import { implement } from '@bunting/bus';
import { RemoveFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setProjectFavorite } from './set-project-favorite.ts';

export const removeFavoriteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveFavoriteProject, (request) => setProjectFavorite(transaction, request, false));
