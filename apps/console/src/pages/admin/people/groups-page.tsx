import { CreateGroup, DeleteGroup, type Group, ListGroups, ListUsers, UpdateGroup } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { operationQuery } from '../../../api/queries.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { displayNameOf } from './user-cell.tsx';
import styles from './people.module.css';

const dialogs = () => import('./group-dialog.tsx');
const GroupDialog = lazyRouteComponent(dialogs, 'GroupDialog');

/** The groups with their members, roles and projects. */
export const GroupsPage = () => {
  const groups = useQuery(operationQuery(ListGroups, {}));
  const roles = useQuery(operationQuery(ListUsers, {})).data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const [edited, setEdited] = useState<Group | 'new' | undefined>();
  const [deleted, setDeleted] = useState<Group | undefined>();
  // The dialogs are there when a key opens them, so that no letter is lost.
  useEffect(() => void dialogs(), []);
  const mayCall = useMayCall();
  const mayCreate = mayCall(CreateGroup);
  usePageActions(
    mayCreate ? [{ id: 'groups.create', title: text.createGroup, key: 'c', run: () => setEdited('new') }] : [],
  );
  const create = mayCreate && (
    <Button variant="primary" icon="add" onPress={() => setEdited('new')}>
      {text.createGroup}
    </Button>
  );
  return (
    <AdminPage id="groups" actions={create}>
      <MissingPermissionNotice operation={CreateGroup} />
      <ResourceList
        label={text.groups}
        query={{ ...groups, data: groups.data?.groups }}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={({ description, users, mappingsSSO }) =>
          [description ?? '', ...mappingsSSO, ...users.map(({ user }) => displayNameOf(user))].join(' ')
        }
        columns={[
          {
            id: 'name',
            title: text.name,
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
            title: text.members,
            cell: ({ users }) => (
              <span title={users.map(({ user }) => displayNameOf(user)).join(', ')}>{users.length}</span>
            ),
            isNumber: true,
          },
          {
            id: 'role',
            title: text.rootRole,
            cell: ({ rootRole }) =>
              rootRole === null ? text.noRootRole : <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>,
          },
          { id: 'projects', title: text.projects, cell: ({ projects }) => projects.join(', ') },
          { id: 'sso', title: text.mappings, cell: ({ mappingsSSO }) => mappingsSSO.join(', ') },
        ]}
        actions={(group) => [
          ...(mayCall(UpdateGroup)
            ? [{ id: 'edit', label: text.edit, icon: 'edit' as const, run: () => setEdited(group) }]
            : []),
          ...(mayCall(DeleteGroup)
            ? [{ id: 'delete', label: text.deleteGroup, icon: 'remove' as const, run: () => setDeleted(group) }]
            : []),
        ]}
        empty={{ title: text.noGroups, help: text.noGroupsHelp }}
      />
      <Suspense>
        {edited !== undefined && (
          <GroupDialog group={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
        )}
      </Suspense>
      {deleted !== undefined && (
        <ConfirmOperationDialog
          title={text.deleteGroupTitle(deleted.name)}
          confirm={text.deleteGroup}
          isDangerous
          operation={DeleteGroup}
          request={{ params: { id: deleted.id } }}
          invalidates={[ListGroups]}
          notification={text.deleted(deleted.name)}
          onClose={() => setDeleted(undefined)}
        >
          <p>{text.deleteGroupHelp}</p>
          <UsageList
            query={{ ...groups, data: deleted }}
            title={text.membersOf}
            emptyText={text.noMembersOf}
            uses={({ users }) => users.map(({ user }) => ({ key: String(user.id), node: displayNameOf(user) }))}
          />
          <UsageList
            query={{ ...groups, data: deleted }}
            title={text.projectsOf}
            emptyText={text.noProjectsOf}
            uses={({ projects }) => projects.map((project) => ({ key: project, node: project }))}
          />
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
