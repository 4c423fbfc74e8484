import { type Endpoint, implement } from '@bunting/bus';
import {
  CreateFirstAdmin,
  LogIn,
  type Refusal,
  refusal,
  systemCaller,
  ValidateFirstAdminLink,
} from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { requirePasswordsEnabled } from '../passwords/endpoints.ts';
import { requireStrongPassword } from '../passwords/password-policy.ts';
import { predefinedRole } from '../roles/role.ts';
import { accountCreated, parseUserNames, signInName } from '../users/account.ts';

export function signInEndpoints({ transaction, reads, signIn, signInSettings }: GatewayContext): readonly Endpoint[] {
  return [
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
    }),
    implement(CreateFirstAdmin, async (request) => {
      const { body, query } = request;
      const names = parseUserNames(body);
      requireStrongPassword(body.password);
      const asSystem = { ...withoutStoredReply(request), caller: systemCaller };
      // Before the hash is computed, which is expensive: a guessed link costs only this read.
      await reads.links.get(body.token, 'create-first-admin');
      const hash = await signIn.passwords.hash(body.password);
      const created = await transaction(asSystem, async ({ links, users, passwords, sessions }) => {
        const link = await links.getForUpdate(body.token, 'create-first-admin');
        await users.lockFirstUserCreation();
        await requireNoUser({ users });
        await links.markUsed(link.id);
        const account = { accountType: 'User', rootRole: predefinedRole.admin, isActive: true } as const;
        const user = await users.add(names, account, (admin) => [accountCreated(admin)]);
        await passwords.set(user.id, hash);
        const { address, userAgent = '' } = query;
        return { user, secret: await sessions.start(user.id, { address, userAgent }) };
      });
      signIn.log.success(created.user.id, 'the link of the first start');
      request.setHeader('Set-Cookie', signIn.cookie.set(created.secret));
      return created.user;
    }),
    implement(ValidateFirstAdminLink, async ({ query }) => {
      await reads.links.get(query.token, 'create-first-admin');
      await requireNoUser(reads);
      return null;
    }),
  ];
}

function mismatch(): Refusal {
  return refusal(
    'PasswordMismatch',
    'The combination of password and username you provided is invalid. If you have forgotten your password, ask an administrator for a link to reset it.',
  );
}

/** @throws Refusal `UsedTokenError` when a user exists, so that no further one may call itself the first */
async function requireNoUser({ users }: Pick<GatewayReads, 'users'>): Promise<void> {
  if (await users.hasUsers())
    throw refusal('UsedTokenError', 'The first administrator exists already. Ask an administrator for an account.');
}
