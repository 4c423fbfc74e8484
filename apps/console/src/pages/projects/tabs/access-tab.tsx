import {
  AddProjectAccess,
  GetProjectAccess,
  GetRole,
  ListUsersAndGroups,
  type Permission,
  type ProjectAccess,
  RemoveProjectGroup,
  RemoveProjectUser,
  SetProjectGroupRoles,
  SetProjectUserRoles,
} from '@bunting/contracts';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../../api/call.ts';
import { usePermissionCheck } from '../../../api/permissions.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Badge } from '../../../components/content/badge.tsx';
import { Initials } from '../../../components/content/initials.tsx';
import { Checkbox } from '../../../components/forms/fields.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { Catalogue } from '../../../components/resources/catalogue.tsx';
import { Time } from '../../../components/content/time.tsx';
import { displayNameOf } from '../../admin/people/user-names.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';

type ProjectRole = ProjectAccess['roles'][number];

/** A user or a group with roles in the project. */
interface Member {
  readonly kind: 'user' | 'group';
  readonly id: number;
  readonly name: string;
  /** “User”, “Service account” or “Group of … users” */
  readonly kindLabel: string;
  readonly roles: readonly number[];
  readonly addedAt: string;
}

function projectMembersOf({ users, groups }: ProjectAccess): Member[] {
  return [
    ...users.map((user) => ({
      kind: 'user' as const,
      id: user.id,
      name: displayNameOf(user),
      roles: user.roles,
      addedAt: user.addedAt,
      kindLabel: user.accountType === 'Service Account' ? 'Service account' : 'User',
    })),
    ...groups.map(({ id, name, userCount, roles, addedAt }) => ({
      kind: 'group' as const,
      id,
      name,
      roles,
      addedAt,
      kindLabel: `Group of ${formatCount(userCount, 'user')}`,
    })),
  ];
}

/**
 * Those of the roles that the user may give in the project: the roles whose permissions the user has there. Undefined until they are known.
 */
function useGrantableRoles(project: string, roles: readonly ProjectRole[]): readonly ProjectRole[] | undefined {
  const hasPermission = usePermissionCheck();
  const details = useQueries({ queries: roles.map(({ id }) => operationQuery(GetRole, { params: { id } })) });
  if (details.some(({ isPending }) => isPending)) return undefined;
  return roles.filter((_role, index) =>
    details[index]?.data?.permissions.every(({ name, environment }) =>
      hasPermission(name as Permission, { project, environment }),
    ),
  );
}

/** @param isEveryRole whether the roles are all that there are for projects */
function rolesField(roles: readonly ProjectRole[], isEveryRole: boolean): RequestBodyField {
  return {
    name: 'roles',
    label: 'Roles',
    render: (value, onChange) => {
      const chosen = Array.isArray(value) ? (value as number[]) : [];
      return (
        <fieldset className={styles['roles']}>
          <legend>Roles</legend>
          {roles.map(({ id, name, description }) => (
            <Checkbox
              key={id}
              isSelected={chosen.includes(id)}
              onChange={(isChosen) =>
                onChange(
                  roles.map((role) => role.id).filter((roleId) => (roleId === id ? isChosen : chosen.includes(roleId))),
                )
              }
            >
              <span>
                {name} <span className={styles['small']}>{description}</span>
              </span>
            </Checkbox>
          ))}
          {!isEveryRole && (
            <p className={styles['small']}>
              Roles with permissions that you do not have are left out: who has them can give them.
            </p>
          )}
          {chosen.length === 0 && <p className={styles['small']}>Choose at least one role.</p>}
        </fieldset>
      );
    },
  };
}

function idsOf(value: unknown, kind: Member['kind']): number[] {
  return (Array.isArray(value) ? (value as string[]) : [])
    .filter((key) => key.startsWith(`${kind} `))
    .map((key) => Number(key.slice(kind.length + 1)));
}

interface GiveAccessProps {
  readonly project: string;
  readonly roles: readonly ProjectRole[];
  readonly onClose: () => void;
}

function GiveAccessDialog({ project, roles: allRoles, onClose }: GiveAccessProps) {
  const usersAndGroups = useQuery(operationQuery(ListUsersAndGroups, {}));
  const roles = useGrantableRoles(project, allRoles);
  // The role that is chosen first is known when those that can be given are.
  if (roles === undefined) return null;
  const options = [
    ...(usersAndGroups.data?.users ?? []).map((user) => ({
      id: `user ${user.id}`,
      label: displayNameOf(user),
      description: user.email ?? undefined,
    })),
    ...(usersAndGroups.data?.groups ?? []).map(({ id, name, userCount }) => ({
      id: `group ${id}`,
      label: name,
      description: `Group of ${formatCount(userCount, 'user')}`,
    })),
  ];
  return (
    <RequestBodyDialog
      title="Give access"
      submit="Give access"
      operation={AddProjectAccess}
      request={{ params: { projectId: project } }}
      // The field `users` holds users and groups, as `user 1` and `group 2`; `prepare` separates them.
      values={{ users: [], groups: [], roles: roles.filter(({ name }) => name === 'Member').map(({ id }) => id) }}
      prepare={({ users, roles: roleIds }) => ({
        roles: roleIds,
        users: idsOf(users, 'user'),
        groups: idsOf(users, 'group'),
      })}
      fields={[
        {
          name: 'users',
          label: 'Who',
          render: (value, onChange) => (
            <MultiComboBox
              label="Who"
              options={options}
              value={Array.isArray(value) ? (value as string[]) : []}
              onChange={onChange}
              emptyText="Choose at least one user or group."
            />
          ),
        },
        rolesField(roles, roles.length === allRoles.length),
      ]}
      notification={() => 'Access is given.'}
      onClose={onClose}
    />
  );
}

interface MemberProps {
  readonly project: string;
  readonly member: Member;
  readonly onClose: () => void;
}

function ChangeRolesDialog({
  project,
  member,
  roles,
  onClose,
}: MemberProps & { readonly roles: readonly ProjectRole[] }) {
  const grantable = useGrantableRoles(project, roles);
  if (grantable === undefined) return null;
  // What the member has already, anybody who changes access may leave as it is.
  const offered = roles.filter((role) => grantable.includes(role) || member.roles.includes(role.id));
  const sharedProps = {
    title: `Roles of ${isolated(member.name)}`,
    submit: 'Save',
    values: { roles: member.roles } as FormValues,
    readStored: async () => {
      const value = await call(GetProjectAccess, { params: { projectId: project } });
      const current = projectMembersOf(value).find(({ kind, id }) => kind === member.kind && id === member.id);
      return { value: { roles: current?.roles ?? [] } };
    },
    fields: [rolesField(offered, offered.length === roles.length)],
    notification: () => `The roles of ${isolated(member.name)} are saved.`,
    onClose,
  };
  return member.kind === 'user' ? (
    <RequestBodyDialog
      {...sharedProps}
      operation={SetProjectUserRoles}
      request={{ params: { projectId: project, userId: member.id } }}
    />
  ) : (
    <RequestBodyDialog
      {...sharedProps}
      operation={SetProjectGroupRoles}
      request={{ params: { projectId: project, groupId: member.id } }}
    />
  );
}

function RemoveAccessDialog({ project, member, onClose }: MemberProps) {
  const sharedProps = {
    title: `Remove the access of ${isolated(member.name)}`,
    confirm: 'Remove access',
    isDangerous: true,
    notification: `${isolated(member.name)} has no role of their own in this project any more.`,
    onClose,
    children: <p>Every role in this project goes. Roles that hold everywhere, or come through a group, stay.</p>,
  };
  return member.kind === 'user' ? (
    <ConfirmOperationDialog
      {...sharedProps}
      operation={RemoveProjectUser}
      request={{ params: { projectId: project, userId: member.id } }}
    />
  ) : (
    <ConfirmOperationDialog
      {...sharedProps}
      operation={RemoveProjectGroup}
      request={{ params: { projectId: project, groupId: member.id } }}
    />
  );
}

/** The users and groups with a role in a project. */
export function AccessTab({ project }: { readonly project: string }) {
  const access = useQuery(operationQuery(GetProjectAccess, { params: { projectId: project } }));
  const roles = access.data?.roles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const members = access.data && projectMembersOf(access.data);
  return (
    <Catalogue
      noun="member"
      label="Access"
      scope={{ project }}
      frame={(giveAccessButton, content) => (
        <div className={layout['stack']}>
          <div className={layout['bar']}>
            <Link to="/admin/$section" params={{ section: 'access' }} search={{ project }}>
              Who may do what here, and through which role
            </Link>
            {giveAccessButton}
          </div>
          {content}
        </div>
      )}
      query={{ ...access, data: members }}
      rowKey={({ kind, id }) => `${kind} ${id}`}
      name={({ name }) => name}
      columns={[
        {
          title: 'Name',
          cell: ({ name }) => (
            <span className={layout['inline']}>
              <Initials name={name} />
              <bdi>{name}</bdi>
            </span>
          ),
        },
        { title: 'Kind', cell: ({ kindLabel }) => kindLabel },
        {
          title: 'Roles',
          cell: (member) => (
            <span className={layout['inline']}>
              {member.roles.map((id) => (
                <Badge key={id}>{roleNames.get(id) ?? id}</Badge>
              ))}
            </span>
          ),
        },
        { title: 'Since', cell: ({ addedAt }) => <Time at={addedAt} /> },
      ]}
      create={{
        operation: AddProjectAccess,
        label: 'Give access',
        dialog: (onClose) =>
          access.data && <GiveAccessDialog project={project} roles={access.data.roles} onClose={onClose} />,
      }}
      actions={[
        {
          id: 'roles',
          label: 'Change roles',
          icon: 'edit',
          operation: SetProjectUserRoles,
          dialog: (member, onClose) => (
            <ChangeRolesDialog project={project} member={member} roles={roles} onClose={onClose} />
          ),
        },
        {
          id: 'remove',
          label: 'Remove access',
          icon: 'remove',
          operation: RemoveProjectUser,
          dialog: (member, onClose) => <RemoveAccessDialog project={project} member={member} onClose={onClose} />,
        },
      ]}
      empty={{
        title: 'No user or group has a role in this project',
        help: 'Administrators and roles that hold everywhere apply. Give access to those who look after the flags.',
      }}
    />
  );
}
