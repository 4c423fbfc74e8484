import { invalidProperty, type Tag } from '@bunting/contracts';
import { featureNotFound } from '../refusals.ts';
import { type Decision, type Feature, featureEvent, type DomainEvent } from '../features/feature.ts';

const isSameTag = (one: Tag) => (other: Tag) => one.type === other.type && one.value === other.value;

const byTypeAndValue = (one: Tag, other: Tag): number => {
  if (one.type !== other.type) return one.type < other.type ? -1 : 1;
  return one.value < other.value ? -1 : 1;
};

/** The feature with the tags added, all of them sorted by type and value, without duplicates. */
export const withTags = (feature: Feature, tags: readonly Tag[]): Feature => {
  const allTags = [...feature.tags];
  for (const { type, value } of tags) if (!allTags.some(isSameTag({ type, value }))) allTags.push({ type, value });
  return allTags.length === feature.tags.length ? feature : { ...feature, tags: allTags.sort(byTypeAndValue) };
};

/** Adds a tag to a feature. Emits nothing when the feature has the tag already. */
export const addTag = (feature: Feature, { type, value }: Tag): Decision<'feature-tagged'> => {
  const after = withTags(feature, [{ type, value }]);
  if (after === feature) return { feature, events: [] };
  return { feature: after, events: [featureEvent('feature-tagged', after, { data: { type, value } })] };
};

/** Removes a tag from a feature. Emits nothing when the feature does not have the tag. */
export const removeTag = (feature: Feature, { type, value }: Tag): Decision => {
  const tags = feature.tags.filter((tag) => !isSameTag({ type, value })(tag));
  if (tags.length === feature.tags.length) return { feature, events: [] };
  return {
    feature: { ...feature, tags },
    events: [featureEvent('feature-untagged', feature, { preData: { type, value } })],
  };
};

/** The features whose tags a request of a project changes, each once. @param requested their names, which may have duplicates */
export const featuresToTag = (requested: readonly string[], found: readonly Feature[], project: string): Feature[] => {
  const features = new Map(found.map((feature) => [feature.name, feature]));
  return [...new Set(requested)].map((name) => {
    const feature = features.get(name);
    if (feature === undefined) throw featureNotFound(name);
    if (feature.project === project) return feature;
    const path = `/body/features/${requested.indexOf(name)}`;
    throw invalidProperty('Tried to change tags of feature not belonging to project', path);
  });
};

/** Tags to add to a feature and to remove from it. */
export interface TagChanges {
  readonly addedTags: readonly Tag[];
  readonly removedTags: readonly Tag[];
}

const isAmong = (tags: readonly Tag[], { type, value }: Tag): boolean =>
  tags.some((tag) => tag.type === type && tag.value === value);

/** The tags to add: those that the same request does not remove. */
export const tagsToAdd = ({ addedTags, removedTags }: TagChanges): Tag[] =>
  addedTags.filter((tag) => !isAmong(removedTags, tag)).map(({ type, value }) => ({ type, value }));

/** Adds and removes tags of a feature, with one event for each changed tag. */
export const changeTags = (feature: Feature, changes: TagChanges): Decision => {
  let after = feature;
  const events: DomainEvent[] = [];
  const apply = (decision: Decision): void => {
    after = decision.feature;
    events.push(...decision.events);
  };
  for (const tag of tagsToAdd(changes)) apply(addTag(after, tag));
  for (const tag of changes.removedTags) apply(removeTag(after, tag));
  return { feature: after, events };
};

/** Removes a tag, or all tags of a type, from a feature. */
export const removeTags = (feature: Feature, type: string, value?: string): Decision => {
  const removedTags = feature.tags.filter((tag) => tag.type === type && (value === undefined || tag.value === value));
  return changeTags(feature, { addedTags: [], removedTags });
};
