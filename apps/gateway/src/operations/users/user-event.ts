import type { User } from '@bunting/contracts';

/** What events tell of a user or a service account. */
export const userEventData = ({ id, name, username, email, rootRole, active }: User) => ({
  id,
  name,
  username,
  email,
  rootRole,
  active,
});
