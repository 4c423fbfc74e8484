import { CreateUser, DeleteInactiveUsers, ListInactiveUsers, ListUsers } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Checkbox } from '../../../components/forms/fields.tsx';
import type { IconName } from '../../../components/content/icon.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import { Invitations } from './invitations.tsx';
import type { UserDialogKind, ListedUser } from './user-dialogs.tsx';
import { displayNameOf, UserNames } from './user-names.tsx';
import styles from './people.module.css';
import { formatCount } from '../../../text/format-number.ts';

function loadDialogs() {
  return import('./user-dialogs.tsx');
}
const CreateUserDialog = lazyPart(async () => (await loadDialogs()).CreateUserDialog);
const UserDialog = lazyPart(async () => (await loadDialogs()).UserDialog);

/** The users with their root roles and states, the actions of administrators on them, and the invitation links. */
export function UsersPage() {
  const users = useQuery(operationQuery(ListUsers, {}));
  const [view, setView] = useSearchParameter('view');
  const isInactive = view === 'inactive';
  const inactive = useQuery({ ...operationQuery(ListInactiveUsers, {}), enabled: isInactive });
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const roles = users.data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const inactiveIds = inactive.data?.inactiveUsers.map(({ id }) => id) ?? [];
  const areInactive = new Set(inactiveIds);
  const rows = isInactive ? users.data?.users.filter(({ id }) => areInactive.has(id)) : users.data?.users;
  const action = (kind: UserDialogKind, label: string, icon: IconName) => ({
    id: kind,
    label,
    icon,
    operation: ListUsers,
    dialog: (user: ListedUser, onClose: () => void) => (
      <UserDialog kind={kind} user={user} roles={roles} onClose={onClose} />
    ),
  });
  return (
    <AdminCatalogue
      id="users"
      noun="user"
      label="Users"
      preload={loadDialogs}
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
        { title: 'Name', cell: (user) => <UserNames user={user} /> },
        { title: 'Root role', cell: ({ rootRole }) => <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge> },
        {
          title: 'State',
          cell: ({ active, scimId }) => (
            <span className={styles['badges']}>
              {active ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Deactivated</Badge>}
              {scimId !== null && <Badge>By SCIM</Badge>}
            </span>
          ),
        },
        { title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
      create={{
        operation: CreateUser,
        isDisabled: roles.length === 0,
        dialog: (onClose) => <CreateUserDialog roles={roles} onClose={onClose} />,
      }}
      actions={[
        action('edit', 'Edit', 'edit'),
        {
          id: 'access',
          label: 'What they may do',
          icon: 'search',
          operation: ListUsers,
          run: (user) =>
            void navigate({ to: '/admin/$section', params: { section: 'access' }, search: { q: displayNameOf(user) } }),
        },
        {
          ...action('reset', 'Link to choose a password', 'external'),
          isOffered: ({ email, username }) => email !== undefined || username !== undefined,
        },
        action('sessions', 'Signed-in browsers', 'user'),
        action('slack', 'Slack accounts', 'user'),
        { ...action('deactivate', 'Deactivate', 'close'), isOffered: ({ active }) => active },
        { ...action('activate', 'Activate', 'check'), isOffered: ({ active }) => !active },
        action('delete', 'Delete', 'remove'),
      ]}
      empty={{
        title: 'No other users yet',
        help: 'Create users one by one, give out an invitation link, or let an identity provider do it.',
      }}
      below={
        <>
          <Invitations roles={roles} />
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
        </>
      }
    />
  );
}
