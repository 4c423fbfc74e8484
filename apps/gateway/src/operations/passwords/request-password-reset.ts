import { implement } from '@bunting/bus';
import { RequestPasswordReset, systemCaller } from '@bunting/contracts';
import { signInName } from '../../access/users/account.ts';
import { createPasswordLink, mailPasswordLink, passwordPagePath } from '../../passwords/password-links.ts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requirePasswordsEnabled } from './require-passwords-enabled.ts';

export const requestPasswordResetEndpoint = ({
  transaction,
  signIn,
  mailer,
  instance,
  signInSettings,
}: GatewayContext) =>
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
  });
