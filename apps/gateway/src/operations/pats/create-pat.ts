import { implement } from '@bunting/bus';
import { CreatePat, refusal } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { newPat } from './new-pat.ts';
import { requireSomebody } from './own-account.ts';

export const createPatEndpoint = (work: UnitOfWork) =>
  implement(CreatePat, async (asked) => {
    requireSomebody(asked.caller);
    return work.revealing(asked, async (tx) => {
      const user = await tx.people.find(asked.caller.id);
      // Deleted since the key was looked at.
      if (user === undefined)
        throw refusal('AuthenticationRequired', 'The key in the authorization header is not valid.');
      return newPat(tx, asked, user.id, asked.body);
    });
  });
