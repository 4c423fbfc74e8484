import type { TagTypeBody, TagTypeDescription } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../names.ts';

const maxNameLength = 50;

/** A new tag type in the form of responses: only with the properties of the request. */
export const tagTypeView = ({ name, ...about }: Required<TagTypeDescription>): TagTypeDescription => ({
  name,
  ...Object.fromEntries(Object.entries(about).filter(([, value]) => value !== null)),
});

/** A tag type in its stored form. The caller checks that its name is free. */
export const newTagType = ({ name, description, icon, color }: TagTypeBody): Required<TagTypeDescription> => {
  requireUrlFriendlyName(name, '/body/name', maxNameLength);
  return { name, description: description ?? null, icon: icon ?? null, color: color ?? null };
};
