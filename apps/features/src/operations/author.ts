import type { Caller } from '@bunting/contracts';
import { imageUrlOf } from '@bunting/contracts/hashing';
import type { Person } from '../domain/features/feature.ts';

/** The caller as creator or collaborator of a feature: with the name for display, and the picture of the e-mail address if there is one. */
export const authorOf = ({ id, name, displayName }: Caller): Person => ({
  id,
  name: displayName ?? name,
  imageUrl: imageUrlOf(name),
});
