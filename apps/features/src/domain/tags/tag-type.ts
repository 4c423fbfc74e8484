import type { TagTypeBody, TagTypeDescription } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../names.ts';

const longestName = 50;

/** A new type of tags as clients get it: with what it was given alone. */
export const tagTypeView = ({ name, ...about }: Required<TagTypeDescription>): TagTypeDescription => ({
  name,
  ...Object.fromEntries(Object.entries(about).filter(([, value]) => value !== null)),
});

/** A type of tags as it is stored. Whether its name is free is not decided here. */
export const newTagType = ({ name, description, icon, color }: TagTypeBody): Required<TagTypeDescription> => {
  requireUrlFriendlyName(name, '/body/name', longestName);
  return { name, description: description ?? null, icon: icon ?? null, color: color ?? null };
};
