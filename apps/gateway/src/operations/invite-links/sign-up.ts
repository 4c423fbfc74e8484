import { implement } from '@bunting/bus';
import { SignUp, systemCaller } from '@bunting/contracts';
import { requireStrongPassword } from '../../access/passwords/password-policy.ts';
import { predefinedRole } from '../../access/roles/role.ts';
import { parseUserNames } from '../../access/users/account.ts';
import { requireUsableInviteLink, signedUp } from '../../access/invite-links/invite-link.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requirePasswordsEnabled } from '../passwords/require-passwords-enabled.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';

export const signUpEndpoint = ({ transaction, reads, signIn, inviteSecrets, signInSettings }: GatewayContext) =>
  implement(SignUp, async (request) => {
    await requirePasswordsEnabled({ signInSettings });
    const { body, now, params, query } = request;
    const names = parseUserNames(body);
    requireStrongPassword(body.password);
    const id = inviteSecrets.idOf(params.token);
    const asSystem = { ...request, caller: systemCaller };
    requireUsableInviteLink(await reads.inviteLinks.find(id), now);
    // Counts every attempt, also failed ones: invitation links are often published.
    signIn.limits.countAttempt(query.address);
    const hash = await signIn.passwords.hash(body.password);
    return transaction(asSystem, async ({ inviteLinks, users, passwords }) => {
      const link = requireUsableInviteLink(await inviteLinks.findForUpdate(id), now);
      const account = { accountType: 'User', rootRole: predefinedRole.viewer, isActive: true } as const;
      const user = await users.add(names, account, (created) => [accountCreated(created)]);
      await passwords.set(user.id, hash);
      await inviteLinks.addUser(link.id, user.id, [signedUp(link, user)]);
      return user;
    });
  });
