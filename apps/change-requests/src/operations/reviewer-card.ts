import type { GetUsersAccess, ReplyOf, Reviewer } from '@bunting/contracts';

type UserDetails = ReplyOf<typeof GetUsersAccess>['users'][number]['user'];

/** A user as people see them who look for a reviewer: what is not known is left out. */
export const reviewerOf = ({ id, email, name, username, imageUrl }: UserDetails): Reviewer => ({
  id,
  ...(email === null ? {} : { email }),
  ...(name === null ? {} : { name }),
  ...(username === null ? {} : { username }),
  ...(imageUrl === null ? {} : { imageUrl }),
});
