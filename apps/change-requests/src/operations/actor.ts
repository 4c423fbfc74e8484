import type { Caller } from '@bunting/contracts';
import type { Actor } from '../domain/change-request.ts';

/** The caller as the actor that a change request stores. */
export const actorOf = ({ caller, now }: { readonly caller: Caller; readonly now: Date }): Actor => ({
  by: { id: caller.id, name: caller.name },
  now,
});
