import type { DomainEvent, Feature } from '../features/feature.ts';

// A favourite belongs to a user: neither the ETag nor the collaborators of the feature change.

interface ProjectRef {
  readonly id: string;
}

const aboutFeature = ({ name, tags }: Feature) => ({ featureName: name, data: { feature: name }, tags });
const aboutProject = ({ id }: ProjectRef) => ({ project: id, data: { project: id } });

/** The event of a feature that becomes a favourite of the caller. */
export const featureFavorited = (feature: Feature): DomainEvent => ({
  type: 'feature-favorited',
  ...aboutFeature(feature),
});

/** The event of a feature that ceases to be a favourite of the caller. */
export const featureUnfavorited = (feature: Feature): DomainEvent => ({
  type: 'feature-unfavorited',
  ...aboutFeature(feature),
});

/** The event of a project that becomes a favourite of the caller. */
export const projectFavorited = (project: ProjectRef): DomainEvent => ({
  type: 'project-favorited',
  ...aboutProject(project),
});

/** The event of a project that ceases to be a favourite of the caller. */
export const projectUnfavorited = (project: ProjectRef): DomainEvent => ({
  type: 'project-unfavorited',
  ...aboutProject(project),
});
