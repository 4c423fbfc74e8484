import { implement } from '@bunting/bus';
import { CreateFirstAdmin, systemCaller } from '@bunting/contracts';
import { requireStrongPassword } from '../passwords/password-policy.ts';
import { predefinedRole } from '../roles/role.ts';
import { parseUserNames } from '../users/account.ts';
import { withoutStoredReply } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { accountCreated } from '../../domain/accounts/accounts.ts';
import { requireNoUser } from '../../operations/sign-in/require-no-user.ts';

export const createFirstAdminEndpoint = ({ transaction, reads, signIn }: GatewayContext) =>
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
  });
