import type { Feature, Person } from './feature.ts';

/** The feature with a user as the first of its collaborators. */
export const withCollaborator = (feature: Feature, { id, name }: Person): Feature => {
  const latest = feature.collaborators[0];
  if (latest?.id === id && latest.name === name) return feature;
  return { ...feature, collaborators: [{ id, name }, ...feature.collaborators.filter((person) => person.id !== id)] };
};
