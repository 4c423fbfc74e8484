import { implement } from '@bunting/bus';
import { ChangeUserPassword } from '@bunting/contracts';
import { requireValidPassword } from '../../access/passwords/password-policy.ts';
import { hashUnlessReused } from '../../passwords/hash-unless-reused.ts';
import type { GatewayContext } from '../../access/context.ts';

export const changeUserPasswordEndpoint = ({ transaction, reads, signIn }: GatewayContext) =>
  implement(ChangeUserPassword, async (request) => {
    const { body, params } = request;
    requireValidPassword(body);
    const replayed = await transaction.replay(request);
    if (replayed !== undefined) return replayed;
    const hash = await hashUnlessReused(signIn.passwords, body.password, await reads.passwords.list(params.id));
    const reply = await transaction(request, async ({ users, passwords }) => {
      await users.getForUpdate(params.id, { only: 'users' });
      await passwords.set(params.id, hash);
      return null;
    });
    signIn.log.changed(params.id, `got another password from ${request.caller.name}`);
    return reply;
  });
