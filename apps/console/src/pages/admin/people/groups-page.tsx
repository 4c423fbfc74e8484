import { CreateGroup, DeleteGroup, ListGroups, ListUsers, UpdateGroup } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ProjectNames } from '../../../components/content/project-name.tsx';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import { displayNameOf } from './user-names.tsx';
import styles from './people.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';

function loadDialogs() {
  return import('./group-dialog.tsx');
}
const GroupDialog = lazyPart(async () => (await loadDialogs()).GroupDialog);

/** The groups with their members, roles and projects. */
export function GroupsPage() {
  const groups = useQuery(operationQuery(ListGroups, {}));
  const roles = useQuery(operationQuery(ListUsers, {})).data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  return (
    <AdminCatalogue
      id="groups"
      noun="group"
      label="Groups"
      preload={loadDialogs}
      query={{ ...groups, data: groups.data?.groups }}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      text={({ description, users, mappingsSSO }) =>
        [description ?? '', ...mappingsSSO, ...users.map(({ user }) => displayNameOf(user))].join(' ')
      }
      columns={[
        {
          title: 'Name',
          cell: ({ name, description }) => (
            <div className={styles['twoLines']}>
              <strong>
                <bdi>{name}</bdi>
              </strong>
              {description !== null && description !== '' && <span dir="auto">{description}</span>}
            </div>
          ),
        },
        {
          title: 'Members',
          cell: ({ users }) => (
            <span title={users.map(({ user }) => displayNameOf(user)).join(', ')}>{users.length}</span>
          ),
          isNumber: true,
        },
        {
          title: 'Root role',
          cell: ({ rootRole }) => (rootRole === null ? 'none' : <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>),
        },
        { title: 'Projects', cell: ({ projects }) => <ProjectNames ids={projects} /> },
        { title: 'Groups of the identity provider', cell: ({ mappingsSSO }) => mappingsSSO.join(', ') },
      ]}
      create={{ operation: CreateGroup, dialog: (onClose) => <GroupDialog group={undefined} onClose={onClose} /> }}
      actions={[
        {
          id: 'edit',
          label: 'Edit',
          icon: 'edit',
          operation: UpdateGroup,
          dialog: (group, onClose) => <GroupDialog group={group} onClose={onClose} />,
        },
      ]}
      remove={{
        operation: DeleteGroup,
        title: (name) => `Delete the group “${isolated(name)}”?`,
        notification: (name) => `${isolated(name)} is deleted.`,
        request: ({ id }) => ({ params: { id } }),
        usage: (group) => (
          <>
            <p>Its members lose what they may do through it, immediately.</p>
            <UsageList
              query={{ ...groups, data: group }}
              title={(n) => `${formatCount(n, 'member')}:`}
              emptyText="It has no members."
              uses={({ users }) => users.map(({ user }) => ({ key: String(user.id), node: displayNameOf(user) }))}
            />
            <UsageList
              query={{ ...groups, data: group }}
              title={(n) => `It has a role in ${formatCount(n, 'project')}:`}
              emptyText="It has no role in a project."
              uses={({ projects }) => projects.map((project) => ({ key: project, node: project }))}
            />
          </>
        ),
      }}
      empty={{
        title: 'No groups yet',
        help: 'A team that is a group gets and loses its roles as one, and an identity provider can keep its members.',
      }}
    />
  );
}
