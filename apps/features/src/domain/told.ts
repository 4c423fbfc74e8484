import type { EventType } from '@bunting/contracts';
import type { DomainEvent, Feature } from './feature.ts';

/** What is told of a feature, with the tags that it has. */
export const told = (
  type: EventType,
  feature: Pick<Feature, 'project' | 'name' | 'tags'>,
  more: Pick<DomainEvent, 'environment' | 'data' | 'preData' | 'tags'> = {},
): DomainEvent => ({ type, project: feature.project, featureName: feature.name, tags: feature.tags, ...more });
