import {
  type EventType,
  invalidProperty,
  isEqualContent,
  maxTagTypeLength,
  minTagLength,
  type Tag,
  type TagTypeBody,
  type TagTypeDescription,
  type UpdateTagTypeBody,
} from '@bunting/contracts';
import { type Decision, type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { featureNotFound, invalidPropertyValue } from '../refusals.ts';

/** A new tag, without blanks around its value. Whether its type exists is not decided here. */
export function newTag({ type, value }: Tag): Tag {
  const trimmed = value.trim();
  if ([...trimmed].length < minTagLength) {
    throw invalidPropertyValue(`NOT have fewer than ${minTagLength} characters`, '/body/value', value);
  }
  return { type, value: trimmed };
}

/** The event of a tag that is new in the catalogue. */
export function tagCreated({ type, value }: Tag): DomainEvent<'tag-created'> {
  return {
    type: 'tag-created',
    data: { type, value },
  };
}

export function deleteTag({ type, value }: Tag): DomainEvent {
  return { type: 'tag-deleted', data: { type, value } };
}

/** A tag type as it is stored. */
export type StoredTagType = Required<TagTypeDescription>;

/** A new tag type as in responses, without properties that are null. */
export function tagTypeView({ name, ...properties }: StoredTagType): TagTypeDescription {
  return {
    name,
    ...Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null)),
  };
}

/** A tag type after a change, and its events. An unchanged type is returned as is, without events. */
export interface TagTypeDecision<Type extends EventType = EventType> {
  readonly type: StoredTagType;
  readonly events: readonly DomainEvent<Type>[];
}

/** A new tag type. The caller checks that its name is free. @param path the JSON pointer of the type in the request */
export function newTagType(
  { name, description, icon, color }: TagTypeBody,
  path = '/body',
): TagTypeDecision<'tag-type-created'> {
  requireUrlFriendlyName(name, `${path}/name`, maxTagTypeLength);
  const type = { name, description: description ?? null, icon: icon ?? null, color: color ?? null };
  return { type, events: [{ type: 'tag-type-created', data: type }] };
}

/** Updates a tag type. Omitted properties do not change. */
export function updateTagType(before: StoredTagType, body: UpdateTagTypeBody): TagTypeDecision {
  const { description = before.description, icon = before.icon, color = before.color } = body;
  const after = { name: before.name, description, icon, color };
  return isEqualContent(after, before)
    ? { type: before, events: [] }
    : { type: after, events: [{ type: 'tag-type-updated', data: after, preData: before }] };
}

export function deleteTagType(type: StoredTagType): DomainEvent {
  return { type: 'tag-type-deleted', preData: type };
}

function isSameTag(one: Tag) {
  return (other: Tag) => one.type === other.type && one.value === other.value;
}

function byTypeAndValue(one: Tag, other: Tag): number {
  if (one.type !== other.type) return one.type < other.type ? -1 : 1;
  return one.value < other.value ? -1 : 1;
}

/** The feature with the tags added, all of them sorted by type and value, without duplicates. */
export function withTags(feature: Feature, tags: readonly Tag[]): Feature {
  const allTags = [...feature.tags];
  for (const { type, value } of tags) if (!allTags.some(isSameTag({ type, value }))) allTags.push({ type, value });
  return allTags.length === feature.tags.length ? feature : { ...feature, tags: allTags.sort(byTypeAndValue) };
}

/** Adds a tag to a feature. Emits nothing when the feature has the tag already. */
export function addTag(feature: Feature, { type, value }: Tag): Decision<'feature-tagged'> {
  const after = withTags(feature, [{ type, value }]);
  if (after === feature) return { feature, events: [] };
  return { feature: after, events: [featureEvent('feature-tagged', after, { data: { type, value } })] };
}

/** Removes a tag from a feature. Emits nothing when the feature does not have the tag. */
export function removeTag(feature: Feature, { type, value }: Tag): Decision {
  const tags = feature.tags.filter((tag) => !isSameTag({ type, value })(tag));
  if (tags.length === feature.tags.length) return { feature, events: [] };
  return {
    feature: { ...feature, tags },
    events: [featureEvent('feature-untagged', feature, { preData: { type, value } })],
  };
}

/** The features whose tags a request of a project changes, each once. @param requested their names, which may have duplicates */
export function featuresToTag(requested: readonly string[], found: readonly Feature[], project: string): Feature[] {
  const features = new Map(found.map((feature) => [feature.name, feature]));
  return [...new Set(requested)].map((name) => {
    const feature = features.get(name);
    if (feature === undefined) throw featureNotFound(name);
    if (feature.project === project) return feature;
    const path = `/body/features/${requested.indexOf(name)}`;
    throw invalidProperty('Tried to change tags of feature not belonging to project', path);
  });
}

/** Tags to add to a feature and to remove from it. */
export interface TagChanges {
  readonly addedTags: readonly Tag[];
  readonly removedTags: readonly Tag[];
}

function isAmong(tags: readonly Tag[], { type, value }: Tag): boolean {
  return tags.some((tag) => tag.type === type && tag.value === value);
}

/** The tags to add: those that the same request does not remove. */
export function tagsToAdd({ addedTags, removedTags }: TagChanges): Tag[] {
  return addedTags.filter((tag) => !isAmong(removedTags, tag)).map(({ type, value }) => ({ type, value }));
}

/** Adds and removes tags of a feature, with one event for each changed tag. */
export function changeTags(feature: Feature, changes: TagChanges): Decision {
  let after = feature;
  const events: DomainEvent[] = [];
  const apply = (decision: Decision): void => {
    after = decision.feature;
    events.push(...decision.events);
  };
  for (const tag of tagsToAdd(changes)) apply(addTag(after, tag));
  for (const tag of changes.removedTags) apply(removeTag(after, tag));
  return { feature: after, events };
}

/** Removes a tag, or all tags of a type, from a feature. */
export function removeTags(feature: Feature, type: string, value: string | null = null): Decision {
  const removedTags = feature.tags.filter((tag) => tag.type === type && (value === null || tag.value === value));
  return changeTags(feature, { addedTags: [], removedTags });
}
