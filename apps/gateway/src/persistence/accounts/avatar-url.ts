import { gravatarUrlOf } from '@bunting/contracts/hashing';
import type { UserNames } from '../../access/users/account.ts';

/** The image of a user, chosen as Unleash does: by e-mail address, else username, else id. */
export const avatarUrlOf = ({ id, username, email }: { readonly id: number } & Omit<UserNames, 'name'>): string =>
  gravatarUrlOf(email ?? username ?? String(id));
