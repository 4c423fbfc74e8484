import type { InviteLink } from '@bunting/contracts';
import { predefinedRole, roleWithId } from '../../access/roles/role.ts';
import type { StoredInviteLink } from '../../access/invite-links/invite-link-store.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { GatewayContext } from '../../access/context.ts';

/** An invitation link and its role, without the secret: this may be stored as the reply for retries. */
type InviteLinkWithRole = StoredInviteLink & Pick<InviteLink, 'role'>;

/** The role that users get who sign up. */
const viewerRole = async ({ roles }: Pick<GatewayReads, 'roles'>): Promise<InviteLink['role']> => {
  const { id, name, description, type } = roleWithId(await roles.list(), predefinedRole.viewer);
  return { id, name, description, type };
};

export const withRoles = async (
  reads: Pick<GatewayReads, 'roles'>,
  links: readonly StoredInviteLink[],
): Promise<InviteLinkWithRole[]> => {
  const role = await viewerRole(reads);
  return links.map((link) => ({ ...link, role }));
};

export const withRole = async (
  reads: Pick<GatewayReads, 'roles'>,
  link: StoredInviteLink,
): Promise<InviteLinkWithRole> => ({ ...link, role: await viewerRole(reads) });

/** An invitation link with its secret and the URL of its page, whose path is the same as in Unleash. */
export const inviteLinkResponse =
  ({ instance, inviteSecrets }: Pick<GatewayContext, 'instance' | 'inviteSecrets'>) =>
  ({ id, ...link }: InviteLinkWithRole): InviteLink => {
    const secret = inviteSecrets.secretOf(id);
    return { ...link, secret, url: instance.pageUrl(`/new-user?invite=${secret}`) };
  };
