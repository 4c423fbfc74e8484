import { implement } from '@bunting/bus';
import { ResetPassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../access/passwords/password-policy.ts';
import { invalidLink } from '../../access/refusals.ts';
import { hashUnlessReused } from '../../passwords/hash-unless-reused.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requirePasswordsEnabled } from './require-passwords-enabled.ts';

export const resetPasswordEndpoint = ({ transaction, reads, signIn, signInSettings }: GatewayContext) =>
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
  });
