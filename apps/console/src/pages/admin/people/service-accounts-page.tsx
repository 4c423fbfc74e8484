import {
  CreateServiceAccount,
  DeleteServiceAccount,
  ListServiceAccounts,
  UpdateServiceAccount,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Time } from '../../../components/content/time.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { roleOptions, displayNameOf, UserNames } from './user-names.tsx';
import { isolated } from '../../../text/isolated.ts';

function loadDialogs() {
  return import('./service-account-dialogs.tsx');
}
const CreateServiceAccountDialog = lazyPart(async () => (await loadDialogs()).CreateServiceAccountDialog);
const TokensDialog = lazyPart(async () => (await loadDialogs()).ServiceAccountTokensDialog);

/** The accounts of machines, with their tokens. */
export function ServiceAccountsPage() {
  const accounts = useQuery(operationQuery(ListServiceAccounts, {}));
  const roles = accounts.data?.rootRoles ?? [];
  const roleNames = new Map(roles.map(({ id, name }) => [id, name]));
  return (
    <AdminCatalogue
      id="service-accounts"
      noun="service account"
      label="Service accounts"
      preload={loadDialogs}
      query={{ ...accounts, data: accounts.data?.serviceAccounts }}
      rowKey={({ id }) => id}
      name={displayNameOf}
      text={({ username = '', tokens }) => [username, ...tokens.map(({ description }) => description)].join(' ')}
      columns={[
        { title: 'Name', cell: (account) => <UserNames user={account} /> },
        { title: 'Root role', cell: ({ rootRole }) => <Badge>{roleNames.get(rootRole) ?? rootRole}</Badge> },
        {
          title: 'State',
          cell: ({ active }) =>
            active ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Deactivated</Badge>,
        },
        { title: 'Tokens', cell: ({ tokens }) => tokens.length, isNumber: true },
        { title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
      create={{
        operation: CreateServiceAccount,
        isDisabled: roles.length === 0,
        dialog: (onClose) => <CreateServiceAccountDialog roles={roles} onClose={onClose} />,
      }}
      actions={[
        {
          id: 'tokens',
          label: 'Tokens…',
          operation: ListServiceAccounts,
          dialog: (account, onClose) => <TokensDialog account={account} onClose={onClose} />,
        },
      ]}
      edit={{
        operation: UpdateServiceAccount,
        title: (name) => `Edit “${isolated(name)}”`,
        notification: (name) => `${isolated(name)} is saved.`,
        fields: [
          { name: 'name', label: 'Name' },
          { name: 'rootRole', label: 'Root role', options: roleOptions(roles) },
          { name: 'active', label: 'Active: signing in, sessions and tokens work' },
        ],
        request: ({ id }) => ({ params: { id } }),
        stored: async (account) => {
          const { serviceAccounts } = await call(ListServiceAccounts, {});
          return serviceAccounts.find(({ id }) => id === account.id) ?? account;
        },
      }}
      remove={{
        operation: DeleteServiceAccount,
        title: (name) => `Delete “${isolated(name)}”?`,
        notification: (name) => `${isolated(name)} is deleted.`,
        request: ({ id }) => ({ params: { id } }),
        usage: ({ tokens }) => (
          <>
            <p>Its tokens stop working immediately. What it did stays in the event log.</p>
            <UsageList
              query={{ data: tokens, error: null, refetch: () => undefined }}
              title={(n) => `${formatCount(n, 'token')} will stop working:`}
              emptyText="The user has no tokens."
              uses={(all) => all.map(({ id, description }) => ({ key: String(id), node: description }))}
            />
          </>
        ),
      }}
      empty={{
        title: 'No service accounts yet',
        help: 'An account for a machine: a pipeline, a script. It cannot sign in, and acts by its tokens.',
      }}
    />
  );
}
