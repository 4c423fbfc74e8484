import { CreateServiceAccount, ListServiceAccounts } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ComponentProps, Suspense, useEffect, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { displayNameOf, UserNames } from './user-names.tsx';

const loadDialogs = () => import('./service-account-dialogs.tsx');
const CreateServiceAccountDialog = lazyRouteComponent(loadDialogs, 'CreateServiceAccountDialog');
const ServiceAccountDialog = lazyRouteComponent(loadDialogs, 'ServiceAccountDialog');

/** The accounts of machines, with their tokens. */
export const ServiceAccountsPage = () => {
  const accounts = useQuery(operationQuery(ListServiceAccounts, {}));
  const roles = accounts.data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  const [isCreating, setCreating] = useState(false);
  const [openDialog, setOpenDialog] =
    useState<Pick<ComponentProps<typeof ServiceAccountDialog>, 'dialog' | 'account'>>();
  // Loads the dialogs before they are needed: letters that are typed right after the shortcut would be lost while a dialog is loading.
  useEffect(() => void loadDialogs(), []);
  usePageActions([
    { id: 'accounts.create', title: 'Create a service account', key: 'c', run: () => setCreating(roles.length > 0) },
  ]);
  const close = (): void => setOpenDialog(undefined);
  return (
    <AdminPage
      id="service-accounts"
      actions={
        <Button variant="primary" icon="add" isDisabled={roles.length === 0} onPress={() => setCreating(true)}>
          Create a service account
        </Button>
      }
    >
      <MissingPermissionNotice operation={CreateServiceAccount} />
      <ResourceList
        label="Service accounts"
        query={{ ...accounts, data: accounts.data?.serviceAccounts }}
        rowKey={({ id }) => id}
        name={displayNameOf}
        text={({ username = '', tokens }) => [username, ...tokens.map(({ description }) => description)].join(' ')}
        columns={[
          { id: 'name', title: 'Name', cell: (account) => <UserNames user={account} /> },
          {
            id: 'role',
            title: 'Root role',
            cell: ({ rootRole }) => <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge>,
          },
          {
            id: 'state',
            title: 'State',
            cell: ({ active }) =>
              active ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Deactivated</Badge>,
          },
          { id: 'tokens', title: 'Tokens', cell: ({ tokens }) => tokens.length, isNumber: true },
          { id: 'seen', title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
          { id: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        actions={(account) => [
          { id: 'tokens', label: 'Tokens…', run: () => setOpenDialog({ dialog: 'tokens', account }) },
          { id: 'edit', label: 'Edit', icon: 'edit', run: () => setOpenDialog({ dialog: 'edit', account }) },
          {
            id: 'delete',
            label: 'Delete',
            icon: 'remove',
            run: () => setOpenDialog({ dialog: 'delete', account }),
          },
        ]}
        empty={{
          title: 'No service accounts yet',
          help: 'An account for a machine: a pipeline, a script. It cannot sign in, and acts by its tokens.',
        }}
      />
      <Suspense>
        {isCreating && <CreateServiceAccountDialog roles={roles} onClose={() => setCreating(false)} />}
        {openDialog !== undefined && <ServiceAccountDialog {...openDialog} roles={roles} onClose={close} />}
      </Suspense>
    </AdminPage>
  );
};
