import type { Caller } from '@bunting/contracts';
import type { Actor } from '../requests/change-request.ts';

/** The caller as the actor that a change request stores. @param now the time of the database, if the actor is stored */
export const actorOf = ({ id, name, username }: Caller, now: Date): Actor => ({
  by: { id, name, ...(username === undefined ? {} : { username }) },
  now,
});
