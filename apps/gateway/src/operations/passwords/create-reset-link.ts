import { implement } from '@bunting/bus';
import { CreateResetLink } from '@bunting/contracts';
import { signInName } from '../../access/users/account.ts';
import { userNotFound } from '../../access/refusals.ts';
import { createPasswordLink, mailPasswordLink, passwordPagePath } from '../../passwords/password-links.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createResetLinkEndpoint = ({ transaction, signIn, mailer, instance }: GatewayContext) =>
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
  });
