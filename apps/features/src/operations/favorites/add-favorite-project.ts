import { implement } from '@bunting/bus';
import { AddFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setProjectFavorite } from './set-project-favorite.ts';

export const addFavoriteProjectEndpoint = ({ work }: FeaturesContext) =>
  implement(AddFavoriteProject, (request) => setProjectFavorite(work, request, true));
