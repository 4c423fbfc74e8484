import { implement } from '@bunting/bus';
import { AddFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setFavorite } from './favorite-project.ts';

export const addFavoriteProjectEndpoint = ({ work }: FeaturesContext) =>
  implement(AddFavoriteProject, (request) => setFavorite(work, request, true));
