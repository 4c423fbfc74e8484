import type { GetPermissionsOfUsers, ReplyOf, Reviewer } from '@bunting/contracts';

type UserDetails = ReplyOf<typeof GetPermissionsOfUsers>['users'][number]['user'];

/** A user as shown in lists of reviewers. Unknown properties are omitted. */
export const reviewerOfUser = ({ id, email, name, username, imageUrl }: UserDetails): Reviewer => ({
  id,
  ...(email === null ? {} : { email }),
  ...(name === null ? {} : { name }),
  ...(username === null ? {} : { username }),
  ...(imageUrl === null ? {} : { imageUrl }),
});
