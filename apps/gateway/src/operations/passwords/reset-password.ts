import { implement } from '@bunting/bus';
import { type Refusal, refusal, ResetPassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../domain/password-policy.ts';
import { hashNewPassword } from '../../passwords/new-password.ts';
import type { GatewayContext } from '../context.ts';
import { requirePasswordSignIn } from './require-password-sign-in.ts';

const invalidLink = (): Refusal => refusal('InvalidTokenError', 'The link is not valid, or has expired.');

export const resetPasswordEndpoint = ({ transaction, signIn, signInSettings }: GatewayContext) =>
  implement(ResetPassword, async (request) => {
    await requirePasswordSignIn({ signInSettings });
    const { token, password } = request.body;
    requireStrongPassword(password);
    const found = await transaction(request, async ({ links, passwords }) => {
      const { userId } = await links.get(token, 'set-password');
      return { userId: userId as number, earlier: await passwords.list(userId as number) };
    });
    if (!('userId' in found)) throw new Error('A reset by a link has no stored reply.');
    const { userId, earlier } = found;
    const hash = await hashNewPassword(signIn.passwords, password, earlier);
    await transaction(request, async ({ links, users, passwords, sessions }) => {
      const link = await links.getForUpdate(token, 'set-password');
      const user = await users.findForUpdate(userId, { only: 'users' });
      if (user?.active !== true) throw invalidLink();
      await links.markUsed(link.id);
      await passwords.set(userId, hash);
      await sessions.endAll(userId);
    });
    signIn.log.changed(userId, 'chose a password by a link');
    return null;
  });
