import { implement } from '@bunting/bus';
import { AddFavoriteProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setProjectFavorite } from './set-project-favorite.ts';

export const addFavoriteProjectEndpoint = ({ transaction }: FeaturesContext) =>
  implement(AddFavoriteProject, (request) => setProjectFavorite(transaction, request, true));
