import { type CreateFeatureBody, notFound, type Refusal, refusal, type StoredFeature } from '@bunting/contracts';
import type { Decision, DomainEvent, Feature, Person } from './feature.ts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from './names.ts';
import { named } from './refusals.ts';
import { withTags } from './tag.ts';
import { told } from './told.ts';

/** A feature without its environments, as writes of the feature itself answer it and events tell it. */
export const storedFeature = (feature: Feature): StoredFeature => ({
  name: feature.name,
  description: feature.description,
  type: feature.type,
  project: feature.project,
  stale: feature.stale,
  createdAt: feature.createdAt,
  impressionData: feature.impressionData,
  archived: feature.archivedAt !== null,
  archivedAt: feature.archivedAt,
  lastSeenAt: null,
});

export interface Origin {
  readonly project: string;
  /** when it is created, as the API writes it */
  readonly now: string;
  readonly by: Person;
  readonly naming?: FeatureNaming | null | undefined;
}

/** Creates a feature: off in every environment of its project, and without strategies. Whether its name is free is not decided here. */
export const createFeature = (
  body: CreateFeatureBody,
  { project, now, by, naming }: Origin,
  at = '/body',
): Decision => {
  requireUrlFriendlyName(body.name, `${at}/name`);
  requireMatchingName(body.name, naming, `${at}/name`);
  const created: Feature = {
    name: body.name,
    project,
    type: body.type ?? 'release',
    description: body.description || null,
    stale: body.stale ?? false,
    impressionData: body.impressionData ?? false,
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
  return { feature, events: [told('feature-created', feature, { data: storedFeature(feature) })] };
};

/** The active features that depend on a feature. */
export interface Descendants {
  readonly children: readonly string[];
}

/** Archives a feature in every environment; what it depended on is forgotten. An archived one stays as it is, and nothing is told. */
export const archiveFeature = (feature: Feature, { children }: Descendants, now: string): Decision => {
  if (feature.archivedAt !== null) return { feature, events: [] };
  if (children.length > 0) {
    throw refusal(
      'InvalidOperationError',
      'You can not archive/delete this feature since other features depend on it.',
    );
  }
  const events: DomainEvent[] = [];
  if (feature.dependencies.length > 0) events.push(told('feature-dependencies-removed', feature));
  events.push(told('feature-archived', feature));
  const lifecycle = [...feature.lifecycle, { stage: 'archived', enteredStageAt: now } as const];
  return { feature: { ...feature, archivedAt: now, dependencies: [], lifecycle }, events };
};

/** The feature after somebody changed it: they come first among its collaborators. */
export const collaborated = (feature: Feature, { id, name }: Person): Feature => {
  const latest = feature.collaborators[0];
  if (latest?.id === id && latest.name === name) return feature;
  return { ...feature, collaborators: [{ id, name }, ...feature.collaborators.filter((person) => person.id !== id)] };
};

/** 404: the feature is not in that project; if it is in another one, the message says so. */
export const noSuchFeature = (name: string, project: string, elsewhere?: string): Refusal => {
  const hint = elsewhere === undefined ? '.' : `, but there's a feature with that name in project "${elsewhere}"`;
  return notFound(`There's no feature named "${named(name)}" in project "${named(project)}"${hint}`);
};
