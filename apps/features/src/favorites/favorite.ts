import type { DomainEvent, Feature } from '../features/feature.ts';

// A favourite belongs to a user: neither the ETag nor the collaborators of the feature change.

interface ProjectRef {
  readonly id: string;
}

function aboutFeature({ name, tags }: Feature) {
  return { featureName: name, data: { feature: name }, tags };
}
function aboutProject({ id }: ProjectRef) {
  return { project: id, data: { project: id } };
}

/** The event of a feature that becomes a favourite of the caller. */
export function featureFavorited(feature: Feature): DomainEvent {
  return {
    type: 'feature-favorited',
    ...aboutFeature(feature),
  };
}

/** The event of a feature that ceases to be a favourite of the caller. */
export function featureUnfavorited(feature: Feature): DomainEvent {
  return {
    type: 'feature-unfavorited',
    ...aboutFeature(feature),
  };
}

/** The event of a project that becomes a favourite of the caller. */
export function projectFavorited(project: ProjectRef): DomainEvent {
  return {
    type: 'project-favorited',
    ...aboutProject(project),
  };
}

/** The event of a project that ceases to be a favourite of the caller. */
export function projectUnfavorited(project: ProjectRef): DomainEvent {
  return {
    type: 'project-unfavorited',
    ...aboutProject(project),
  };
}
