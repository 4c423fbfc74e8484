import type { Caller } from '@bunting/contracts';
import type { Actor } from '../domain/change-request.ts';

/** The caller as the actor that a change request stores. @param now by the clock of the database, which all replicas share */
export const actorOf = ({ id, name }: Caller, now: Date): Actor => ({ by: { id, name }, now });
