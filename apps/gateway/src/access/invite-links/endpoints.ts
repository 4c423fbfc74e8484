import { type Endpoint, implement } from '@bunting/bus';
import {
  CreateInviteLink,
  GetInviteLink,
  type InviteLink,
  ListInviteLinks,
  SignUp,
  systemCaller,
  UpdateInviteLink,
  ValidateInviteLink,
} from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { GatewayContext } from '../context.ts';
import { requirePasswordsEnabled } from '../passwords/endpoints.ts';
import { requireStrongPassword } from '../passwords/password-policy.ts';
import { inviteLinkNotFound } from '../refusals.ts';
import { predefinedRole, roleWithId } from '../roles/role.ts';
import { accountCreated, parseUserNames } from '../users/account.ts';
import { requireRootRole } from '../users/endpoints.ts';
import type { StoredInviteLink } from './invite-link-store.ts';
import {
  inviteLinkCreated,
  inviteLinkUpdated,
  requireInvitableRole,
  requireUsableInviteLink,
  signedUp,
  updatedInviteLink,
} from './invite-link.ts';

export function inviteLinkEndpoints(context: GatewayContext): readonly Endpoint[] {
  const { transaction, reads, signIn, inviteSecrets, signInSettings } = context;
  const toResponse = inviteLinkResponse(context);
  return [
    implement(CreateInviteLink, (request) =>
      transaction.completing(
        request,
        async (tx) => {
          const asked = await requireRootRole(tx, request.body.rootRole ?? predefinedRole.viewer);
          const content = { ...request.body, rootRole: requireInvitableRole(asked), createdBy: request.caller.name };
          return withRole(tx, await tx.inviteLinks.add(content, (link) => [inviteLinkCreated(link)]));
        },
        toResponse,
      ),
    ),
    implement(GetInviteLink, async ({ params }) => {
      const link = await reads.inviteLinks.find(inviteSecrets.idOf(params.token));
      if (link === undefined) throw inviteLinkNotFound();
      return toResponse(await withRole(reads, link));
    }),
    implement(ListInviteLinks, async () => {
      const links = await withRoles(reads, await reads.inviteLinks.list());
      return { tokens: links.map(toResponse) };
    }),
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
      return transaction(asSystem, async ({ inviteLinks, users, passwords, roles }) => {
        const link = requireUsableInviteLink(await inviteLinks.findForUpdate(id), now);
        const rootRole = (await roles.findRootRole(link.rootRole)) ?? predefinedRole.viewer;
        const account = { accountType: 'User', rootRole, isActive: true } as const;
        const user = await users.add(names, account, (created) => [accountCreated(created)]);
        await passwords.set(user.id, hash);
        await inviteLinks.addUser(link.id, user.id, [signedUp(link, user)]);
        return user;
      });
    }),
    implement(UpdateInviteLink, (request) =>
      transaction.completing(
        request,
        async (tx) => {
          const before = await tx.inviteLinks.findForUpdate(inviteSecrets.idOf(request.params.token));
          if (before === undefined) throw inviteLinkNotFound();
          const content = updatedInviteLink(before, request.body);
          const after = await tx.inviteLinks.save(before.id, content, (stored) => inviteLinkUpdated(before, stored));
          return withRole(tx, after);
        },
        toResponse,
      ),
    ),
    implement(ValidateInviteLink, async ({ params, now }) => {
      requireUsableInviteLink(await reads.inviteLinks.find(inviteSecrets.idOf(params.token)), now);
      return null;
    }),
  ];
}

/** An invitation link and its role, without the secret: this may be stored as the reply for retries. */
type InviteLinkWithRole = StoredInviteLink & Pick<InviteLink, 'role'>;

/** A link whose role was deleted since gives Viewer. */
function linkWithRole(
  roles: Awaited<ReturnType<GatewayReads['roles']['list']>>,
  link: StoredInviteLink,
): InviteLinkWithRole {
  const known = roles.some((role) => role.id === link.rootRole) ? link.rootRole : predefinedRole.viewer;
  const { id, name, description, type } = roleWithId(roles, known);
  return { ...link, role: { id, name, description, type } };
}

async function withRoles(
  reads: Pick<GatewayReads, 'roles'>,
  links: readonly StoredInviteLink[],
): Promise<InviteLinkWithRole[]> {
  const roles = await reads.roles.list();
  return links.map((link) => linkWithRole(roles, link));
}

async function withRole(reads: Pick<GatewayReads, 'roles'>, link: StoredInviteLink): Promise<InviteLinkWithRole> {
  return linkWithRole(await reads.roles.list(), link);
}

/** An invitation link with its secret and the URL of its page, whose path is the same as in Unleash. */
function inviteLinkResponse({ instance, inviteSecrets }: Pick<GatewayContext, 'instance' | 'inviteSecrets'>) {
  return ({ id, rootRole: _, ...link }: InviteLinkWithRole): InviteLink => {
    const secret = inviteSecrets.secretOf(id);
    return { ...link, secret, url: instance.pageUrl(`/new-user?invite=${secret}`) };
  };
}
