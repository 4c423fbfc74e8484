import type { InviteLink, Role } from '@bunting/contracts';
import { predefinedRole } from '../../domain/rights/roles.ts';
import type { StoredInviteLink } from '../../persistence/links/invite-link-repository.ts';
import type { GatewayReads } from '../../persistence/reads.ts';
import type { GatewayContext } from '../context.ts';

/** An invitation link and its role, without the secret: this may be stored as the reply for retries. */
type InviteLinkWithRole = StoredInviteLink & Pick<InviteLink, 'role'>;

/** Adds the role of the users who sign up: Viewer. */
export const withRoles = async (
  { roles }: Pick<GatewayReads, 'roles'>,
  links: readonly StoredInviteLink[],
): Promise<InviteLinkWithRole[]> => {
  const { id, name, description, type } = (await roles.list()).find(
    (role) => role.id === predefinedRole.viewer,
  ) as Role;
  return links.map((link) => ({ ...link, role: { id, name, description, type } }));
};

export const withRole = async (
  reads: Pick<GatewayReads, 'roles'>,
  link: StoredInviteLink,
): Promise<InviteLinkWithRole> => (await withRoles(reads, [link]))[0] as InviteLinkWithRole;

/** An invitation link with its secret and the address of its page, which is that of Unleash. */
export const inviteLinkResponse =
  ({ instance, inviteSecrets }: Pick<GatewayContext, 'instance' | 'inviteSecrets'>) =>
  ({ id, ...link }: InviteLinkWithRole): InviteLink => {
    const secret = inviteSecrets.secretOf(id);
    return { ...link, secret, url: instance.pageUrl(`/new-user?invite=${secret}`) };
  };
