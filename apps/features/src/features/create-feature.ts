import type { CreateFeatureBody, UserReference } from '@bunting/contracts';
import { type Decision, type Feature, featureEvent } from './feature.ts';
import { featureWithoutEnvironments } from './feature-without-environments.ts';
import { changeMetadata } from './metadata.ts';
import { type FeatureNaming, requireMatchingName, requireUrlFriendlyName } from '../names.ts';
import { withTags } from '../tags/feature-tags.ts';

export interface FeatureCreation {
  readonly project: string;
  /** the time of the creation in ISO 8601 */
  readonly now: string;
  readonly author: UserReference;
  readonly naming?: FeatureNaming | null | undefined;
}

/** Creates a feature: off in every environment of its project, and without strategies. Whether its name is free is not decided here. */
export const createFeature = (
  body: CreateFeatureBody,
  { project, now, author, naming }: FeatureCreation,
  path = '/body',
): Decision<'feature-created'> => {
  requireUrlFriendlyName(body.name, `${path}/name`);
  requireMatchingName(body.name, naming, `${path}/name`);
  const created: Feature = {
    name: body.name,
    project,
    ...changeMetadata(body),
    createdAt: now,
    createdBy: author,
    archivedAt: null,
    environments: {},
    tags: [],
    dependencies: [],
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
    links: [],
    collaborators: [author],
  };
  const feature = withTags(created, body.tags ?? []);
  return { feature, events: [featureEvent('feature-created', feature, { data: featureWithoutEnvironments(feature) })] };
};
