import { type Endpoint, implement } from '@bunting/bus';
import {
  adminTokenUserId,
  type Caller,
  CreateInviteLink,
  GetInviteLink,
  type InviteLink,
  invalidProperty,
  ListInviteLinks,
  may,
  rootScope,
  SignUp,
  systemCaller,
  UpdateInviteLink,
  ValidateInviteLink,
} from '@bunting/contracts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';
import type { GatewayContext } from '../context.ts';
import { requirePasswordsEnabled } from '../passwords/endpoints.ts';
import { requireStrongPassword } from '../passwords/password-policy.ts';
import { inviteLinkNotFound } from '../refusals.ts';
import { membershipEvents } from '../groups/group.ts';
import { addRoles } from '../project-access/project-roles.ts';
import { holdsPermission, predefinedRole, requireMayGrant, type RoleGrant, roleWithId } from '../roles/role.ts';
import { accountCreated, parseUserNames } from '../users/account.ts';
import { requireRootRole } from '../users/endpoints.ts';
import type { StoredInviteLink } from './invite-link-store.ts';
import {
  inviteLinkCreated,
  inviteLinkUpdated,
  isInvitableGroup,
  requireInvitableGroups,
  requireInvitableRole,
  requireUsableInviteLink,
  signedUp,
  updatedInviteLink,
} from './invite-link.ts';

export function inviteLinkEndpoints(context: GatewayContext): readonly Endpoint[] {
  const {
    transaction,
    reads,
    signIn,
    inviteSecrets,
    signInSettings,
    projectAndEnvironmentDirectory: directory,
  } = context;
  const toResponse = inviteLinkResponse(context);
  return [
    implement(CreateInviteLink, async (request) => {
      const { body, caller } = request;
      const groups = [...new Set(body.groups)];
      const projects = body.projects ?? [];
      const projectIds = [...new Set(projects.map(({ id }) => id))];
      for (const id of projectIds) await directory.requireProject(request, id);
      if (projectIds.length > 0) await directory.awaitProjection(projectIds);
      return transaction.completing(
        request,
        async (tx) => {
          const asked = await requireRootRole(tx, body.rootRole ?? predefinedRole.viewer);
          if (groups.length > 0) requireInvitableGroups(groups, await tx.groups.list(groups));
          if (projectIds.length > 0) await tx.lockExistingProjects(projectIds);
          const grants = await tx.roles.findProjectGrants(projects.map(({ role }) => role));
          for (const { id, role } of projects) {
            const granted = grants.get(role);
            if (granted === undefined) throw invalidProperty(`There is no role ${role} for projects`, '/body/projects');
            requireMayGrant(caller, id, granted);
          }
          const content = {
            ...body,
            groups,
            projects,
            rootRole: requireInvitableRole(asked),
            createdBy: caller.name,
            createdById: caller.id,
          };
          return withRole(tx, await tx.inviteLinks.add(content, (link) => [inviteLinkCreated(link)]));
        },
        toResponse,
      );
    }),
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
      const { createdById } = requireUsableInviteLink(await reads.inviteLinks.find(id), now);
      // Counts every attempt, also failed ones: invitation links are often published.
      signIn.limits.countAttempt(query.address);
      const hash = await signIn.passwords.hash(body.password);
      const inviter = await readInviter(reads, createdById);
      return transaction(asSystem, async (tx) => {
        const { inviteLinks, users, passwords, roles } = tx;
        const link = requireUsableInviteLink(await inviteLinks.findForUpdate(id), now);
        // Only administrators create accounts: whoever is none any more has nothing left to give by an older link.
        const givesRootRole = inviter !== undefined && may(inviter, ['ADMIN'], rootScope);
        const rootRole = (givesRootRole && (await roles.findRootRole(link.rootRole))) || predefinedRole.viewer;
        const account = { accountType: 'User', rootRole, isActive: true } as const;
        const user = await users.add(names, account, (created) => [accountCreated(created)]);
        await passwords.set(user.id, hash);
        await inviteLinks.addUser(link.id, user.id, [signedUp(link, user)]);
        if (inviter !== undefined) await giveAccess(tx, link, { user: user.id, inviter });
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

/** Whoever created a link, with their rights now; undefined for a user who was deleted or disabled, and for links of an older version. */
async function readInviter(reads: Pick<GatewayReads, 'access'>, id: number | null): Promise<Caller | undefined> {
  if (id === null) return undefined;
  // An admin token belongs to no user whose rights could be read.
  if (id === adminTokenUserId) return systemCaller;
  return (await reads.access.usersWithRights([id]))[0]?.caller;
}

/** Gives a new user the groups and the roles in projects of a link: those that still exist, and that the inviter may give now. */
async function giveAccess(
  { inviteLinks, groups, projectRoles, roles }: Transaction,
  link: StoredInviteLink,
  { user, inviter }: { readonly user: number; readonly inviter: Caller },
): Promise<void> {
  const access = await inviteLinks.accessForUpdate(link.id);
  if (may(inviter, ['ADMIN'], rootScope))
    for (const id of access.groups) {
      const group = await groups.getForUpdate(id);
      if (isInvitableGroup(group))
        await groups.addMember(id, user, link.createdBy, membershipEvents(group, [user], []));
    }
  const grants = await roles.findProjectGrants(access.projects.map(({ role }) => role));
  for (const [project, asked] of Map.groupBy(access.projects, ({ id }) => id)) {
    const given = asked.map(({ role }) => role).filter((role) => mayGrant(inviter, project, grants.get(role)));
    if (given.length === 0) continue;
    const before = await projectRoles.getForUpdate(project);
    const decision = addRoles({ users: [user], groups: [], roles: given }).decide(before, project);
    await projectRoles.save(project, before, decision.roles, decision.events);
  }
}

function mayGrant(inviter: Caller, project: string, grants: readonly RoleGrant[] | undefined): boolean {
  return grants !== undefined && grants.every((grant) => holdsPermission(inviter, grant, project));
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
  return ({ id, rootRole: _, createdById: __, ...link }: InviteLinkWithRole): InviteLink => {
    const secret = inviteSecrets.secretOf(id);
    return { ...link, secret, url: instance.pageUrl(`/new-user?invite=${secret}`) };
  };
}
