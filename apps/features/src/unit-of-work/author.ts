import type { Caller, UserReference } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';

/** The caller as creator or collaborator of a feature: with the name for display, and the picture of the e-mail address if there is one. */
export const authorOf = ({ id, name, displayName }: Caller): UserReference => ({
  id,
  name: displayName ?? name,
  imageUrl: gravatarUrlOf(name),
});
