import { type Endpoint, implement } from '@bunting/bus';
import {
  ChangeOwnPassword,
  ChangeUserPassword,
  CheckPasswordStrength,
  CreateResetLink,
  refusal,
  RequestPasswordReset,
  ResetPassword,
  systemCaller,
  ValidateResetLink,
  ValidateUserPassword,
} from '@bunting/contracts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { invalidLink, passwordChangedConcurrently, userNotFound, wrongOldPassword } from '../refusals.ts';
import { roleWithId } from '../roles/role.ts';
import { requireAccount, signInName } from '../users/account.ts';
import { hashUnlessReused } from './password-hasher.ts';
import { createPasswordLink, mailPasswordLink, passwordPagePath } from './password-links.ts';
import { requireStrongPassword, requireValidPassword } from './password-policy.ts';

export function passwordEndpoints({
  transaction,
  reads,
  signIn,
  mailer,
  instance,
  signInSettings,
}: GatewayContext): readonly Endpoint[] {
  return [
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
    }),
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
    }),
    implement(CheckPasswordStrength, async ({ body }) => {
      requireStrongPassword(body.password);
      return null;
    }),
    implement(CreateResetLink, async (request) => {
      const { secret, user } = await transaction.revealingSecret(request, async (tx) => {
        const account = await tx.users.findByNameForUpdate(signInName(request.body.id));
        if (account === undefined) throw userNotFound();
        const { id, email } = account;
        const link = await createPasswordLink(tx, id, { kind: 'reset-password', createdBy: request.caller.name });
        return {
          reply: { secret: link.masked, user: { id, ...(email === undefined ? {} : { email }) } },
          secret: link.secret,
        };
      });
      const resetPasswordUrl = instance.pageUrl(passwordPagePath(secret, 'reset-password'));
      await mailPasswordLink(mailer, user, resetPasswordUrl, 'reset-password');
      signIn.log.changed(user.id, `got a link to choose a password from ${request.caller.name}`);
      return { resetPasswordUrl };
    }),
    implement(RequestPasswordReset, async (request) => {
      await requirePasswordsEnabled({ signInSettings });
      const { body, query } = request;
      signIn.limits.countAttempt(query.address);
      const email = signInName(body.email);
      signIn.limits.countAttemptFor({ key: `reset ${email.toLowerCase()}`, exists: false });
      if (mailer === undefined) return null;
      // Not awaited: the time of the response would reveal whether the user exists.
      void (async () => {
        const created = await transaction(
          { ...withoutStoredReply(request), caller: systemCaller, signal: undefined },
          async (tx) => {
            const user = await tx.users.findByNameForUpdate(email);
            if (user?.email === undefined || user.email !== email.toLowerCase()) return undefined;
            return { user, ...(await createPasswordLink(tx, user.id, { kind: 'reset-password', createdBy: null })) };
          },
        );
        if (created === undefined) return;
        const url = instance.pageUrl(passwordPagePath(created.secret, 'reset-password'));
        if (await mailPasswordLink(mailer, created.user, url, 'reset-password'))
          signIn.log.changed(created.user.id, 'requested a link to choose a password, which was sent by mail');
      })().catch((error: unknown) => signIn.log.failedReset(error));
      return null;
    }),
    implement(ResetPassword, async (request) => {
      await requirePasswordsEnabled({ signInSettings });
      const { token, password } = request.body;
      requireStrongPassword(password);
      const { userId } = await reads.links.get(token, 'set-password');
      const hash = await hashUnlessReused(signIn.passwords, password, await reads.passwords.list(userId));
      await transaction(request, async ({ links, users, passwords }) => {
        // The user first, as every write that ends links does: otherwise two of them could wait for each other.
        const user = await users.findForUpdate(userId, { only: 'users' });
        const link = await links.getForUpdate(token, 'set-password');
        if (user?.active !== true) throw invalidLink('set-password');
        await links.markUsed(link.id);
        await passwords.set(userId, hash);
      });
      signIn.log.changed(userId, 'chose a password by a link');
      return null;
    }),
    implement(ValidateResetLink, async ({ query: { token } }) => {
      const { userId, createdBy } = await reads.links.get(token, 'set-password');
      const user = await reads.users.find(userId, { only: 'users' });
      if (user?.active !== true) throw invalidLink('set-password');
      const { id, name, email, rootRole } = user;
      const role = roleWithId(await reads.roles.list(), rootRole);
      return {
        id,
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        token,
        createdBy,
        role: { id: role.id, name: role.name, description: role.description, type: role.type },
      };
    }),
    implement(ValidateUserPassword, async ({ body }) => {
      requireStrongPassword(body.password);
      return null;
    }),
  ];
}

/** @throws Refusal `InvalidOperationError` while administrators have turned passwords off in favour of single sign-on */
export async function requirePasswordsEnabled({
  signInSettings,
}: Pick<GatewayContext, 'signInSettings'>): Promise<void> {
  if (await signInSettings.arePasswordsDisabled())
    throw refusal(
      'InvalidOperationError',
      'Passwords are turned off. Sign in with OpenID Connect at /auth/oidc/login.',
    );
}
