import { minTagLength, type Tag } from '@bunting/contracts';
import { invalidPropertyValue } from '../refusals.ts';
import type { DomainEvent } from '../features/feature.ts';

/** A new tag, without blanks around its value. Whether its type exists is not decided here. */
export const newTag = ({ type, value }: Tag): Tag => {
  const trimmed = value.trim();
  if ([...trimmed].length < minTagLength) {
    throw invalidPropertyValue(`NOT have fewer than ${minTagLength} characters`, '/body/value', value);
  }
  return { type, value: trimmed };
};

/** The event of a tag that is new in the catalogue. */
export const tagCreated = ({ type, value }: Tag): DomainEvent<'tag-created'> => ({
  type: 'tag-created',
  data: { type, value },
});

/** Deletes a tag. Returns the event. */
export const deleteTag = ({ type, value }: Tag): DomainEvent => ({ type: 'tag-deleted', data: { type, value } });
