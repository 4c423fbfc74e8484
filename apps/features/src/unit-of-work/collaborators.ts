import type { UserReference } from '@bunting/contracts';
import type { Feature } from '../features/feature.ts';

/** The feature with a user as the first of its collaborators. */
export const withCollaborator = (feature: Feature, author: UserReference): Feature => {
  const latest = feature.collaborators[0];
  if (latest?.id === author.id && latest.name === author.name && latest.imageUrl === author.imageUrl) return feature;
  return { ...feature, collaborators: [author, ...feature.collaborators.filter(({ id }) => id !== author.id)] };
};
