import type { User } from '@bunting/contracts';

/** The data of a user or a service account in events. */
export const userEventData = ({ id, name, username, email, rootRole, active }: User) => ({
  id,
  name,
  username,
  email,
  rootRole,
  active,
});
