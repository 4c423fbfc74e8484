import { implement } from '@bunting/bus';
import { CreateUser } from '@bunting/contracts';
import { parseUserNames } from '../../access/users/account.ts';
import { createPasswordLink, mailPasswordLink, passwordPagePath } from '../../passwords/password-links.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requireRootRole } from './require-root-role.ts';

export const createUserEndpoint = ({ transaction, signIn, mailer, instance }: GatewayContext) =>
  implement(CreateUser, async (request) => {
    const { password, sendEmail, rootRole } = request.body;
    const names = parseUserNames(request.body);
    // As in Unleash, the rules for passwords hold when users choose one, not when an administrator sets their first one.
    const hash = password ? await signIn.passwords.hash(password) : undefined;
    const { secret, user } = await transaction.revealingSecret(request, async (tx) => {
      const rootRoleId = await requireRootRole(tx, rootRole);
      const account = { accountType: 'User', rootRole: rootRoleId, isActive: true } as const;
      const created = await tx.users.add(names, account, (stored) => [accountCreated(stored)]);
      if (hash !== undefined) await tx.passwords.set(created.id, hash);
      const linkOptions = { kind: 'new-user', createdBy: request.caller.name } as const;
      const link = hash !== undefined ? undefined : await createPasswordLink(tx, created.id, linkOptions);
      return { reply: { secret: link?.masked ?? '', user: created }, secret: link?.secret ?? '' };
    });
    const inviteLink = secret === '' ? '' : instance.pageUrl(passwordPagePath(secret, 'new-user'));
    const emailSent =
      inviteLink !== '' && sendEmail !== false && (await mailPasswordLink(mailer, user, inviteLink, 'new-user'));
    return { ...user, inviteLink, emailSent };
  });
