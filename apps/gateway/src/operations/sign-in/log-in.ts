import { implement } from '@bunting/bus';
import { LogIn, type Refusal, refusal } from '@bunting/contracts';
import { signInName } from '../../access/users/account.ts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requirePasswordsEnabled } from '../passwords/require-passwords-enabled.ts';

const mismatch = (): Refusal =>
  refusal(
    'PasswordMismatch',
    'The combination of password and username you provided is invalid. If you have forgotten your password, ask an administrator for a link to reset it.',
  );

export const logInEndpoint = ({ transaction, reads, signIn, signInSettings }: GatewayContext) =>
  implement(LogIn, async (request) => {
    const { body, query } = request;
    const { address, userAgent = '' } = query;
    const name = signInName(body.username);
    const failures = signIn.limits.countAttempt(address);
    await requirePasswordsEnabled({ signInSettings });
    const account = await reads.passwords.findAccount(name, address);
    const attempted =
      account === undefined
        ? { key: name.toLowerCase(), exists: false }
        : { key: `user ${account.userId}`, exists: true };
    // Attempts from an address where the user has a session do not count under the account.
    const limited = account?.isKnownAddress === true ? undefined : attempted;
    // Attempts from addresses or for names with many failures have the lowest priority in the queue of hashes.
    const rank = limited === undefined ? 0 : failures + signIn.limits.countAttemptFor(limited);
    const { isMatch, isOutdated } = await signIn.passwords.verify(body.password, account?.hash, rank);
    if (account === undefined || !isMatch) {
      signIn.log.failure(account?.userId, address);
      throw mismatch();
    }
    const hash = isOutdated ? await signIn.passwords.hash(body.password) : undefined;
    const signedIn = await transaction(withoutStoredReply(request), async ({ passwords, sessions, users }) => {
      // The password may have been changed, and the user deactivated, while the hash was computed.
      if (!(await passwords.isCurrent(account))) throw mismatch();
      if (hash !== undefined) await passwords.rehash(account.passwordId, hash);
      const secret = await sessions.start(account.userId, { address, userAgent });
      return { secret, user: await users.get(account.userId) };
    });
    signIn.limits.refundSuccess(address, limited);
    signIn.log.success(account.userId, 'a password');
    request.setHeader('Set-Cookie', signIn.cookie.set(signedIn.secret));
    return signedIn.user;
  });
