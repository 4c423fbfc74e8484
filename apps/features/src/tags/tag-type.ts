import {
  type EventType,
  isEqualContent,
  maxTagTypeLength,
  type TagTypeBody,
  type TagTypeDescription,
  type UpdateTagTypeBody,
} from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';
import { requireUrlFriendlyName } from '../names.ts';

/** A tag type as it is stored. */
export type StoredTagType = Required<TagTypeDescription>;

/** A new tag type as in responses, without properties that are null. */
export const tagTypeView = ({ name, ...properties }: StoredTagType): TagTypeDescription => ({
  name,
  ...Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null)),
});

/** A tag type after a change, and its events. An unchanged type is returned as is, without events. */
export interface TagTypeDecision<Type extends EventType = EventType> {
  readonly type: StoredTagType;
  readonly events: readonly DomainEvent<Type>[];
}

/** A new tag type. The caller checks that its name is free. @param path the JSON pointer of the type in the request */
export const newTagType = (
  { name, description, icon, color }: TagTypeBody,
  path = '/body',
): TagTypeDecision<'tag-type-created'> => {
  requireUrlFriendlyName(name, `${path}/name`, maxTagTypeLength);
  const type = { name, description: description ?? null, icon: icon ?? null, color: color ?? null };
  return { type, events: [{ type: 'tag-type-created', data: type }] };
};

/** Updates a tag type. Omitted properties do not change. */
export const updateTagType = (before: StoredTagType, body: UpdateTagTypeBody): TagTypeDecision => {
  const { description = before.description, icon = before.icon, color = before.color } = body;
  const after = { name: before.name, description, icon, color };
  return isEqualContent(after, before)
    ? { type: before, events: [] }
    : { type: after, events: [{ type: 'tag-type-updated', data: after, preData: before }] };
};

/** Deletes a tag type. Returns the event. */
export const deleteTagType = (type: StoredTagType): DomainEvent => ({ type: 'tag-type-deleted', preData: type });
