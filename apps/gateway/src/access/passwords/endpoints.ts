import { implement } from '@bunting/bus';
import { ChangeOwnPassword } from '@bunting/contracts';
import { requireValidPassword } from './password-policy.ts';
import { requireAccount } from '../../domain/accounts/accounts.ts';
import { passwordChangedConcurrently, wrongOldPassword } from '../refusals.ts';
import { hashUnlessReused } from '../../passwords/hash-unless-reused.ts';
import type { GatewayContext } from '../context.ts';

export const changeOwnPasswordEndpoint = ({ transaction, reads, signIn }: GatewayContext) =>
  implement(ChangeOwnPassword, async (request) => {
    const { body, caller, query } = request;
    requireAccount(caller);
    requireValidPassword(body);
    const replayed = await transaction.replay(request);
    if (replayed !== undefined) return replayed;
    signIn.limits.countAttemptFor({ key: `own password of ${caller.id}`, exists: true });
    const earlierHashes = await reads.passwords.list(caller.id);
    if (!(await signIn.passwords.verify(body.oldPassword, earlierHashes[0])).isMatch) throw wrongOldPassword();
    const hash = await hashUnlessReused(signIn.passwords, body.password, earlierHashes);
    let secret: string | undefined;
    const reply = await transaction(request, async ({ users, passwords, sessions }) => {
      // Locks the user, so that the second of two concurrent changes sees the password of the first and is refused.
      await users.findForUpdate(caller.id);
      if ((await passwords.list(caller.id))[0] !== earlierHashes[0]) throw passwordChangedConcurrently();
      const ownSession = (await sessions.list(caller.id)).find(({ id }) => id === caller.tokenId);
      await passwords.set(caller.id, hash);
      const { address, userAgent = '' } = query;
      secret = ownSession === undefined ? undefined : await sessions.start(caller.id, { address, userAgent });
      return null;
    });
    // Set after the transaction, which does not run for a retry whose reply is stored: then no session was started.
    if (secret !== undefined) request.setHeader('Set-Cookie', signIn.cookie.set(secret));
    signIn.log.changed(caller.id, 'changed the password');
    return reply;
  });
