import { implement } from '@bunting/bus';
import { CreatePat, refusal } from '@bunting/contracts';
import { newPat } from './add-pat.ts';
import { requireSomebody } from './own-account.ts';
import type { GatewayContext } from '../context.ts';

export const createPatEndpoint = ({ work }: GatewayContext) =>
  implement(CreatePat, async (request) => {
    requireSomebody(request.caller);
    return work.revealing(request, async (tx) => {
      const user = await tx.people.find(request.caller.id);
      // Deleted since the key was looked at.
      if (user === undefined)
        throw refusal('AuthenticationRequired', 'The key in the authorization header is not valid.');
      return newPat(tx, request, user.id, request.body);
    });
  });
