import type { Tag } from '@bunting/contracts';
import type { Decision, DomainEvent, Feature } from './feature.ts';
import { addTag, removeTag } from './tag.ts';

/** Tags to put on a feature and to take off it. */
export interface TagChanges {
  readonly addedTags: readonly Tag[];
  readonly removedTags: readonly Tag[];
}

const isAmong = (tags: readonly Tag[], { type, value }: Tag): boolean =>
  tags.some((tag) => tag.type === type && tag.value === value);

/** The tags that are to be there afterwards: one that is removed again need not be added. */
export const tagsToAdd = ({ addedTags, removedTags }: TagChanges): Tag[] =>
  addedTags.filter((tag) => !isAmong(removedTags, tag)).map(({ type, value }) => ({ type, value }));

/** Adds tags to a feature and removes others, and tells of each that changed. */
export const changeTags = (feature: Feature, changes: TagChanges): Decision => {
  let after = feature;
  const events: DomainEvent[] = [];
  const take = (decision: Decision): void => {
    after = decision.feature;
    events.push(...decision.events);
  };
  for (const tag of tagsToAdd(changes)) take(addTag(after, tag));
  for (const tag of changes.removedTags) take(removeTag(after, tag));
  return { feature: after, events };
};
