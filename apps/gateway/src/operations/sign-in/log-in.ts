import { implement } from '@bunting/bus';
import { LogIn, type Refusal, refusal, type User } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { requirePasswordSignIn } from '../passwords/require-password-sign-in.ts';

const mismatch = (): Refusal =>
  refusal(
    'PasswordMismatch',
    'The combination of password and username you provided is invalid. If you have forgotten your password, ask an administrator for a link to reset it.',
  );

export const logInEndpoint = ({ transaction, signIn, signInSettings }: GatewayContext) =>
  implement(LogIn, async (request) => {
    const { body, query } = request;
    const { address, userAgent = '' } = query;
    const name = body.username.trim().normalize('NFC');
    const failures = signIn.limits.attempt(address);
    await requirePasswordSignIn({ signInSettings });
    const holder = await signIn.findPasswordHolder(name, address);
    const counted = holder === undefined ? `name ${name.toLowerCase()}` : `user ${holder.userId}`;
    const whom = holder?.isKnownAddress === true ? undefined : counted;
    // Attempts from addresses or for names with many failures have the lowest priority in the queue of hashes.
    const rank = whom === undefined ? 0 : failures + signIn.limits.attemptFor(whom);
    const { isMatch, isOutdated } = await signIn.passwords.verify(body.password, holder?.hash, rank);
    if (holder === undefined || !isMatch) {
      signIn.log.failure(holder?.userId, address);
      throw mismatch();
    }
    const hash = isOutdated ? await signIn.passwords.hash(body.password) : undefined;
    const signedIn = await transaction(request, async ({ passwords, sessions, users }) => {
      // The password may have been changed, and the user deactivated, while the hash was computed.
      if (!(await passwords.isCurrent(holder))) throw mismatch();
      if (hash !== undefined) await passwords.rehash(holder.passwordId, hash);
      const secret = await sessions.start(holder.userId, { address, userAgent });
      return { secret, user: (await users.find(holder.userId)) as User };
    });
    if (!('user' in signedIn)) throw new Error('A sign-in has no stored reply.');
    signIn.limits.succeeded(address, whom);
    signIn.log.success(holder.userId, 'a password');
    request.setHeader('Set-Cookie', signIn.cookie.set(signedIn.secret));
    return signedIn.user;
  });
