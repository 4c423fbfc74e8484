import { type CreateFeatureBody, notFound, type Refusal, refusal, type StoredFeature } from '@bunting/contracts';
import { type Decision, type Feature, type Person, featureEvent } from './feature.ts';
import { changeMetadata } from './metadata.ts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { shortName } from '../refusals.ts';
import { withTags } from '../tags/tag.ts';

/** A feature without its environments, as writes of the feature itself answer it and events tell it. */
export const storedFeature = (feature: Feature): StoredFeature => ({
  name: feature.name,
  ...changeMetadata(feature),
  project: feature.project,
  createdAt: feature.createdAt,
  archived: feature.archivedAt !== null,
  archivedAt: feature.archivedAt,
  lastSeenAt: null,
});

export interface Creation {
  readonly project: string;
  /** when it is created, as the API writes it */
  readonly now: string;
  readonly by: Person;
  readonly naming?: FeatureNaming | null | undefined;
}

/** Creates a feature: off in every environment of its project, and without strategies. Whether its name is free is not decided here. */
export const createFeature = (
  body: CreateFeatureBody,
  { project, now, by, naming }: Creation,
  at = '/body',
): Decision => {
  requireUrlFriendlyName(body.name, `${at}/name`);
  requireMatchingName(body.name, naming, `${at}/name`);
  const created: Feature = {
    name: body.name,
    project,
    ...changeMetadata(body),
    createdAt: now,
    createdBy: by,
    archivedAt: null,
    environments: {},
    tags: [],
    dependencies: [],
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
    links: [],
    collaborators: [by],
  };
  const feature = withTags(created, body.tags ?? []);
  return { feature, events: [featureEvent('feature-created', feature, { data: storedFeature(feature) })] };
};

/** The feature with a user as the first of its collaborators. */
export const withCollaborator = (feature: Feature, { id, name }: Person): Feature => {
  const latest = feature.collaborators[0];
  if (latest?.id === id && latest.name === name) return feature;
  return { ...feature, collaborators: [{ id, name }, ...feature.collaborators.filter((person) => person.id !== id)] };
};

/** 404: the feature is not in that project; if it is in another one, the message says so. */
export const featureNotFound = (name: string, project: string, elsewhere?: string): Refusal => {
  const hint = elsewhere === undefined ? '.' : `, but there's a feature with that name in project "${elsewhere}"`;
  return notFound(`There's no feature named "${shortName(name)}" in project "${shortName(project)}"${hint}`);
};

/** Refuses to change features of projects other than the requested one. */
export const requireSameProject = (features: readonly Feature[], project: string): void => {
  const others = new Set(features.map((feature) => feature.project).filter((id) => id !== project));
  if (others.size === 0) return;
  throw refusal(
    'InvalidOperationError',
    `The operation could not be completed. The features exist, but the provided project ids ("${shortName([...others].join(', '))}") ` +
      `does not match the project provided in request URL ("${shortName(project)}").`,
  );
};
