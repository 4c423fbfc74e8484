import {
  CreateServiceAccount,
  CreateServiceAccountToken,
  DeleteServiceAccountToken,
  type ListServiceAccounts,
  ListServiceAccountTokens,
  type Pat,
  type ReplyOf,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Table } from '../../../components/content/table.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { BoundSelect, BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { Time } from '../../../components/content/time.tsx';
import { displayNameOf, roleOptions } from './user-names.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { instantAfterDays, tokenLifetimes } from '../../../components/forms/form-values.ts';
import layout from '../../../components/layout/layout.module.css';
import { isolated } from '../../../text/isolated.ts';

type ServiceAccount = ReplyOf<typeof ListServiceAccounts>['serviceAccounts'][number];

function CreateToken({ account, onClose }: { readonly account: ServiceAccount; readonly onClose: () => void }) {
  return (
    <CreateSecretDialog
      title="Create a token"
      submit="Create"
      operation={CreateServiceAccountToken}
      values={{ description: '', days: '90' }}
      request={({ description, days }) => ({
        params: { id: account.id },
        body: { description: String(description).trim(), expiresAt: instantAfterDays(days) ?? null },
      })}
      secret={({ secret }) => ({
        title: 'The token is created',
        label: 'Token',
        value: secret,
        help: 'Copy it now: it is shown only this once.',
      })}
      onClose={onClose}
    >
      {(control) => (
        <>
          <BoundTextField
            control={control}
            name="description"
            label="Used for"
            hint="So that everyone knows later what stops working without it"
            validate={(value) => validationErrorOf(CreateServiceAccountToken.body, 'description', value)}
            autoFocus
          />
          <BoundSelect control={control} name="days" label="Works for" options={tokenLifetimes} />
        </>
      )}
    </CreateSecretDialog>
  );
}

/** The tokens of a service account. A nested dialog replaces it while it is open, so that only one is visible. */
export function ServiceAccountTokensDialog({
  account,
  onClose,
}: {
  readonly account: ServiceAccount;
  readonly onClose: () => void;
}) {
  const tokens = useQuery(operationQuery(ListServiceAccountTokens, { params: { id: account.id } }));
  const [isCreating, setCreating] = useState(false);
  const [tokenToDelete, setTokenToDelete] = useState<Pat | undefined>();
  if (isCreating) return <CreateToken account={account} onClose={() => setCreating(false)} />;
  if (tokenToDelete !== undefined) {
    return (
      <ConfirmOperationDialog
        title={`Delete the token “${tokenToDelete.description}”?`}
        confirm="Delete"
        isDangerous
        operation={DeleteServiceAccountToken}
        request={{ params: { id: account.id, tokenId: tokenToDelete.id } }}
        notification="The token is deleted."
        onClose={() => setTokenToDelete(undefined)}
      >
        <p>What uses it stops working immediately.</p>
        <p className={layout['muted']}>
          Last seen: <Time at={tokenToDelete.seenAt} />
        </p>
      </ConfirmOperationDialog>
    );
  }
  return (
    <Dialog
      title={`Tokens of ${isolated(displayNameOf(account))}`}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
            Create a token
          </Button>
        </>
      }
    >
      <QueryResult query={tokens}>
        {({ pats }) =>
          pats.length === 0 ? (
            <p>No tokens yet: without one the account can do nothing.</p>
          ) : (
            <Table
              label="Tokens"
              rows={pats}
              rowKey={({ id }) => id}
              columns={[
                { title: 'Used for', cell: ({ description }) => description },
                { title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
                { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  title: 'Actions',
                  isTitleHidden: true,
                  cell: (pat) => (
                    <Button size="small" onPress={() => setTokenToDelete(pat)}>
                      Delete
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </QueryResult>
    </Dialog>
  );
}

interface DialogProps {
  readonly roles: ReplyOf<typeof ListServiceAccounts>['rootRoles'];
  readonly onClose: () => void;
}

/** Creates a service account. */
export function CreateServiceAccountDialog({ roles, onClose }: DialogProps) {
  const viewer = roles.find(({ name }) => name === 'Viewer') ?? roles[0];
  return (
    <RequestBodyDialog
      title="Create a service account"
      submit="Create"
      operation={CreateServiceAccount}
      request={{}}
      values={{ username: '', name: '', rootRole: viewer?.id ?? '' }}
      fields={[
        { name: 'username', label: 'Username' },
        { name: 'name', label: 'Name' },
        { name: 'rootRole', label: 'Root role', options: roleOptions(roles) },
      ]}
      notification={({ username }) => `${isolated(String(username))} is saved.`}
      onClose={onClose}
    />
  );
}
