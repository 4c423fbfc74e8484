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
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { Invitations } from './invitations.tsx';
import type { UserDialogKind, ListedUser } from './user-dialogs.tsx';
import { displayNameOf, UserNames } from './user-names.tsx';
import styles from './people.module.css';
import { formatCount } from '../../../text/format-number.ts';

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
  usePageActions([{ id: 'users.create', title: 'Create a user', key: 'c', run: () => setCreating(roles.length > 0) }]);
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const inactiveIds = inactive.data?.inactiveUsers.map(({ id }) => id) ?? [];
  const rows = isInactive ? users.data?.users.filter(({ id }) => inactiveIds.includes(id)) : users.data?.users;
  const actionsOf = (user: ListedUser): MenuEntry[] => {
    const open = (dialog: UserDialogKind) => () => setOpenDialog({ dialog, user });
    return [
      { id: 'edit', label: 'Edit', icon: 'edit', run: open('edit') },
      {
        id: 'access',
        label: 'What they may do',
        icon: 'search',
        run: () =>
          void navigate({ to: '/admin/$section', params: { section: 'access' }, search: { q: displayNameOf(user) } }),
      },
      ...(user.email === undefined && user.username === undefined
        ? []
        : [{ id: 'reset', label: 'Link to choose a password', icon: 'external' as const, run: open('reset') }]),
      { id: 'sessions', label: 'Signed-in browsers', icon: 'user', run: open('sessions') },
      user.active
        ? { id: 'deactivate', label: 'Deactivate', icon: 'close', run: open('deactivate') }
        : { id: 'activate', label: 'Activate', icon: 'check', run: open('activate') },
      { id: 'delete', label: 'Delete', icon: 'remove', run: open('delete') },
    ];
  };
  return (
    <AdminPage
      id="users"
      actions={
        <Button variant="primary" icon="add" isDisabled={roles.length === 0} onPress={() => setCreating(true)}>
          Create a user
        </Button>
      }
    >
      <MissingPermissionNotice operation={CreateUser} />
      <ResourceList
        label="Users"
        query={{ ...users, data: rows }}
        rowKey={({ id }) => id}
        name={displayNameOf}
        text={({ id, username = '', email = '', rootRole }) =>
          `${id} ${username} ${email} ${roleNames.get(rootRole) ?? ''}`
        }
        filter={
          <span className={styles['badges']}>
            <Checkbox isSelected={isInactive} onChange={(on) => setView(on ? 'inactive' : undefined)}>
              Only those not seen for 180 days
            </Checkbox>
            {isInactive && inactiveIds.length > 0 && (
              <Button size="small" onPress={() => setDeleting(true)}>
                Delete these {formatCount(inactiveIds.length, 'user')}
              </Button>
            )}
          </span>
        }
        columns={[
          { id: 'name', title: 'Name', cell: (user) => <UserNames user={user} /> },
          {
            id: 'role',
            title: 'Root role',
            cell: ({ rootRole }) => <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>,
          },
          {
            id: 'state',
            title: 'State',
            cell: ({ active, scimId }) => (
              <span className={styles['badges']}>
                {active ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Deactivated</Badge>}
                {scimId !== null && <Badge>By SCIM</Badge>}
              </span>
            ),
          },
          { id: 'seen', title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
          { id: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        actions={actionsOf}
        empty={{
          title: 'No other users yet',
          help: 'Create users one by one, give out an invitation link, or let an identity provider do it.',
        }}
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
          title={`Delete ${formatCount(inactiveIds.length, 'inactive user')}?`}
          confirm={`Delete these ${formatCount(inactiveIds.length, 'user')}`}
          isDangerous
          operation={DeleteInactiveUsers}
          request={{ body: { ids: inactiveIds } }}
          notification={`${formatCount(inactiveIds.length, 'user')} deleted.`}
          onClose={() => setDeleting(false)}
        >
          <p>Sessions end, tokens stop working, and roles are gone. What the user did stays in the event log.</p>
          <p>{inactive.data?.inactiveUsers.slice(0, 20).map(displayNameOf).join(', ')}</p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
