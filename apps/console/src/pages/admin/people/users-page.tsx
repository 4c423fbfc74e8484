import { CreateUser, DeleteInactiveUsers, ListInactiveUsers, ListUsers } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Checkbox } from '../../../components/forms/fields.tsx';
import type { MenuEntry } from '../../../components/buttons/menu.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { Invitations } from './invitations.tsx';
import type { UserDialogKind, ListedUser } from './user-dialogs.tsx';
import { displayNameOf, UserNames } from './user-names.tsx';
import styles from './people.module.css';

const loadDialogs = () => import('./user-dialogs.tsx');
const CreateUserDialog = lazyRouteComponent(loadDialogs, 'CreateUserDialog');
const UserDialog = lazyRouteComponent(loadDialogs, 'UserDialog');

/** The users with their root roles and states, the actions of administrators on them, and the invitation links. */
export const UsersPage = () => {
  const users = useQuery(operationQuery(ListUsers, {}));
  const [view, setView] = useSearchParameter('view');
  const isInactive = view === 'inactive';
  const inactive = useQuery({ ...operationQuery(ListInactiveUsers, {}), enabled: isInactive });
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const [openDialog, setOpenDialog] = useState<
    { readonly dialog: UserDialogKind; readonly user: ListedUser } | undefined
  >();
  const [isDeleting, setDeleting] = useState(false);
  const roles = users.data?.rootRoles ?? [];
  // Loads the dialogs before they are needed: letters that are typed right after the shortcut would be lost while a dialog is loading.
  useEffect(() => void loadDialogs(), []);
  usePageActions([{ id: 'users.create', title: text.createUser, key: 'c', run: () => setCreating(roles.length > 0) }]);
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const inactiveIds = inactive.data?.inactiveUsers.map(({ id }) => id) ?? [];
  const rows = isInactive ? users.data?.users.filter(({ id }) => inactiveIds.includes(id)) : users.data?.users;
  const actionsOf = (user: ListedUser): MenuEntry[] => {
    const open = (dialog: UserDialogKind) => () => setOpenDialog({ dialog, user });
    return [
      { id: 'edit', label: text.edit, icon: 'edit', run: open('edit') },
      {
        id: 'access',
        label: text.access,
        icon: 'search',
        run: () =>
          void navigate({ to: '/admin/$section', params: { section: 'access' }, search: { q: displayNameOf(user) } }),
      },
      ...(user.email === undefined && user.username === undefined
        ? []
        : [{ id: 'reset', label: text.resetLink, icon: 'external' as const, run: open('reset') }]),
      { id: 'sessions', label: text.sessions, icon: 'user', run: open('sessions') },
      user.active
        ? { id: 'deactivate', label: text.deactivate, icon: 'close', run: open('deactivate') }
        : { id: 'activate', label: text.activate, icon: 'check', run: open('activate') },
      { id: 'delete', label: text.deleteUser, icon: 'remove', run: open('delete') },
    ];
  };
  return (
    <AdminPage
      id="users"
      actions={
        <Button variant="primary" icon="add" isDisabled={roles.length === 0} onPress={() => setCreating(true)}>
          {text.createUser}
        </Button>
      }
    >
      <MissingPermissionNotice operation={CreateUser} />
      <ResourceList
        label={text.users}
        query={{ ...users, data: rows }}
        rowKey={({ id }) => id}
        name={displayNameOf}
        text={({ id, username = '', email = '', rootRole }) =>
          `${id} ${username} ${email} ${roleNames.get(rootRole) ?? ''}`
        }
        filter={
          <span className={styles['badges']}>
            <Checkbox isSelected={isInactive} onChange={(on) => setView(on ? 'inactive' : undefined)}>
              {text.inactive}
            </Checkbox>
            {isInactive && inactiveIds.length > 0 && (
              <Button size="small" onPress={() => setDeleting(true)}>
                {text.deleteInactive(inactiveIds.length)}
              </Button>
            )}
          </span>
        }
        columns={[
          { id: 'name', title: text.name, cell: (user) => <UserNames user={user} /> },
          {
            id: 'role',
            title: text.rootRole,
            cell: ({ rootRole }) => <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>,
          },
          {
            id: 'state',
            title: text.state,
            cell: ({ active, scimId }) => (
              <span className={styles['badges']}>
                {active ? <Badge tone="good">{text.active}</Badge> : <Badge tone="warning">{text.deactivated}</Badge>}
                {scimId !== null && <Badge>{text.provisioned}</Badge>}
              </span>
            ),
          },
          { id: 'seen', title: text.lastSeen, cell: ({ seenAt }) => <Time at={seenAt} /> },
          { id: 'created', title: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        actions={actionsOf}
        empty={{ title: text.noUsers, help: text.noUsersHelp }}
      />
      <Invitations />
      <Suspense>
        {isCreating && <CreateUserDialog roles={roles} onClose={() => setCreating(false)} />}
        {openDialog !== undefined && (
          <UserDialog
            kind={openDialog.dialog}
            user={openDialog.user}
            roles={roles}
            onClose={() => setOpenDialog(undefined)}
          />
        )}
      </Suspense>
      {isDeleting && (
        <ConfirmOperationDialog
          title={text.deleteInactiveTitle(inactiveIds.length)}
          confirm={text.deleteInactive(inactiveIds.length)}
          isDangerous
          operation={DeleteInactiveUsers}
          request={{ body: { ids: inactiveIds } }}
          notification={text.inactiveDeleted(inactiveIds.length)}
          onClose={() => setDeleting(false)}
        >
          <p>{text.deleteUserHelp}</p>
          <p>{inactive.data?.inactiveUsers.slice(0, 20).map(displayNameOf).join(', ')}</p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
