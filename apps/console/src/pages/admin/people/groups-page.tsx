import { CreateGroup, DeleteGroup, type Group, ListGroups, ListUsers, UpdateGroup } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { displayNameOf } from './user-names.tsx';
import styles from './people.module.css';
import { formatCount } from '../../../text/format-number.ts';

const loadDialogs = () => import('./group-dialog.tsx');
const GroupDialog = lazyRouteComponent(loadDialogs, 'GroupDialog');

/** The groups with their members, roles and projects. */
export const GroupsPage = () => {
  const groups = useQuery(operationQuery(ListGroups, {}));
  const roles = useQuery(operationQuery(ListUsers, {})).data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const [editedGroup, setEditedGroup] = useState<Group | 'new' | undefined>();
  const [groupToDelete, setGroupToDelete] = useState<Group | undefined>();
  // Loads the dialogs before they are needed: letters that are typed right after the shortcut would be lost while a dialog is loading.
  useEffect(() => void loadDialogs(), []);
  const mayCall = useMayCall();
  const mayCreate = mayCall(CreateGroup);
  usePageActions(
    mayCreate ? [{ id: 'groups.create', title: 'Create a group', key: 'c', run: () => setEditedGroup('new') }] : [],
  );
  const createButton = mayCreate && (
    <Button variant="primary" icon="add" onPress={() => setEditedGroup('new')}>
      Create a group
    </Button>
  );
  return (
    <AdminPage id="groups" actions={createButton}>
      <MissingPermissionNotice operation={CreateGroup} />
      <ResourceList
        label="Groups"
        query={{ ...groups, data: groups.data?.groups }}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={({ description, users, mappingsSSO }) =>
          [description ?? '', ...mappingsSSO, ...users.map(({ user }) => displayNameOf(user))].join(' ')
        }
        columns={[
          {
            id: 'name',
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
            id: 'members',
            title: 'Members',
            cell: ({ users }) => (
              <span title={users.map(({ user }) => displayNameOf(user)).join(', ')}>{users.length}</span>
            ),
            isNumber: true,
          },
          {
            id: 'role',
            title: 'Root role',
            cell: ({ rootRole }) => (rootRole === null ? 'None' : <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>),
          },
          { id: 'projects', title: 'Projects', cell: ({ projects }) => projects.join(', ') },
          { id: 'sso', title: 'Groups of the identity provider', cell: ({ mappingsSSO }) => mappingsSSO.join(', ') },
        ]}
        actions={(group) => [
          ...(mayCall(UpdateGroup)
            ? [{ id: 'edit', label: 'Edit', icon: 'edit' as const, run: () => setEditedGroup(group) }]
            : []),
          ...(mayCall(DeleteGroup)
            ? [{ id: 'delete', label: 'Delete', icon: 'remove' as const, run: () => setGroupToDelete(group) }]
            : []),
        ]}
        empty={{
          title: 'No groups yet',
          help: 'A team that is a group gets and loses its roles as one, and an identity provider can keep its members.',
        }}
      />
      <Suspense>
        {editedGroup !== undefined && (
          <GroupDialog
            group={editedGroup === 'new' ? undefined : editedGroup}
            onClose={() => setEditedGroup(undefined)}
          />
        )}
      </Suspense>
      {groupToDelete !== undefined && (
        <ConfirmOperationDialog
          title={`Delete the group “${groupToDelete.name}”?`}
          confirm="Delete"
          isDangerous
          operation={DeleteGroup}
          request={{ params: { id: groupToDelete.id } }}
          notification={`${groupToDelete.name} is deleted.`}
          onClose={() => setGroupToDelete(undefined)}
        >
          <p>Its members lose what they may do through it, immediately.</p>
          <UsageList
            query={{ ...groups, data: groupToDelete }}
            title={(n) => `${formatCount(n, 'member')}:`}
            emptyText="It has no members."
            uses={({ users }) => users.map(({ user }) => ({ key: String(user.id), node: displayNameOf(user) }))}
          />
          <UsageList
            query={{ ...groups, data: groupToDelete }}
            title={(n) => `It has a role in ${formatCount(n, 'project')}:`}
            emptyText="It has no role in a project."
            uses={({ projects }) => projects.map((project) => ({ key: project, node: project }))}
          />
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
