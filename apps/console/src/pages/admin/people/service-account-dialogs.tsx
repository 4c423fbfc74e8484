import {
  CreateServiceAccount,
  CreateServiceAccountToken,
  DeleteServiceAccount,
  DeleteServiceAccountToken,
  ListServiceAccounts,
  ListServiceAccountTokens,
  type Pat,
  type ReplyOf,
  UpdateServiceAccount,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
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
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { peopleMessages as text } from '../../../messages/administration/people.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { displayNameOf } from './user-names.tsx';
import { roleOptions } from './role-options.ts';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { optionsOfPairs, instantAfterDays } from '../../../components/forms/form-values.ts';
import layout from '../../../components/layout/layout.module.css';

type ServiceAccount = ReplyOf<typeof ListServiceAccounts>['serviceAccounts'][number];

const CreateToken = ({ account, onClose }: { readonly account: ServiceAccount; readonly onClose: () => void }) => (
  <CreateSecretDialog
    title={text.createToken}
    submit={sharedMessages.common.create}
    operation={CreateServiceAccountToken}
    values={{ description: '', days: '90' }}
    request={({ description, days }) => ({
      params: { id: account.id },
      body: { description: String(description).trim(), expiresAt: instantAfterDays(days) ?? null },
    })}
    secret={({ secret }) => ({ title: text.tokenMade, label: text.token, value: secret, help: text.tokenOnce })}
    onClose={onClose}
  >
    {(control) => (
      <>
        <BoundTextField
          control={control}
          name="description"
          label={text.tokenFor}
          hint={text.tokenForHint}
          validate={(value) => validationErrorOf(CreateServiceAccountToken.body, 'description', value)}
          autoFocus
        />
        <BoundSelect control={control} name="days" label={text.tokenLasts} options={optionsOfPairs(text.tokenDays)} />
      </>
    )}
  </CreateSecretDialog>
);

/** The tokens of a service account. A nested dialog replaces it while it is open, so that only one is visible. */
const TokensDialog = ({ account, onClose }: { readonly account: ServiceAccount; readonly onClose: () => void }) => {
  const tokens = useQuery(operationQuery(ListServiceAccountTokens, { params: { id: account.id } }));
  const [isCreating, setCreating] = useState(false);
  const [tokenToDelete, setTokenToDelete] = useState<Pat | undefined>();
  if (isCreating) return <CreateToken account={account} onClose={() => setCreating(false)} />;
  if (tokenToDelete !== undefined) {
    return (
      <ConfirmOperationDialog
        title={text.deleteTokenTitle(tokenToDelete.description)}
        confirm={text.deleteToken}
        isDangerous
        operation={DeleteServiceAccountToken}
        request={{ params: { id: account.id, tokenId: tokenToDelete.id } }}
        notification={text.tokenDeleted}
        onClose={() => setTokenToDelete(undefined)}
      >
        <p>{text.deleteTokenHelp}</p>
        <p className={layout['muted']}>
          {text.lastSeen}: <Time at={tokenToDelete.seenAt} />
        </p>
      </ConfirmOperationDialog>
    );
  }
  return (
    <Dialog
      title={text.tokensTitle(displayNameOf(account))}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{sharedMessages.common.close}</Button>
          <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
            {text.createToken}
          </Button>
        </>
      }
    >
      <QueryResult query={tokens}>
        {({ pats }) =>
          pats.length === 0 ? (
            <p>{text.noTokens}</p>
          ) : (
            <Table
              label={text.tokens}
              rows={pats}
              rowKey={({ id }) => id}
              columns={[
                { id: 'for', title: text.tokenFor, cell: ({ description }) => description },
                { id: 'seen', title: text.lastSeen, cell: ({ seenAt }) => <Time at={seenAt} /> },
                { id: 'expires', title: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  id: 'delete',
                  title: sharedMessages.common.actions,
                  cell: (pat) => (
                    <Button size="small" onPress={() => setTokenToDelete(pat)}>
                      {text.deleteToken}
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
};

interface DialogProps {
  readonly roles: ReplyOf<typeof ListServiceAccounts>['rootRoles'];
  readonly onClose: () => void;
}

/** Creates a service account. */
export const CreateServiceAccountDialog = ({ roles, onClose }: DialogProps) => {
  const viewer = roles.find(({ name }) => name === 'Viewer') ?? roles[0];
  return (
    <RequestBodyDialog
      title={text.createServiceAccount}
      submit={sharedMessages.common.create}
      operation={CreateServiceAccount}
      request={{}}
      values={{ username: '', name: '', rootRole: viewer?.id ?? '' }}
      fields={[
        { name: 'username', label: text.username },
        { name: 'name', label: text.name },
        { name: 'rootRole', label: text.rootRole, options: roleOptions(roles) },
      ]}
      notification={({ username }) => text.saved(String(username))}
      onClose={onClose}
    />
  );
};

interface ServiceAccountDialogProps extends DialogProps {
  readonly dialog: 'edit' | 'tokens' | 'delete';
  readonly account: ServiceAccount;
}

/** The dialog of one action on a service account. */
export const ServiceAccountDialog = ({ dialog, account, roles, onClose }: ServiceAccountDialogProps) => {
  switch (dialog) {
    case 'edit':
      return (
        <RequestBodyDialog
          title={text.editUser(displayNameOf(account))}
          submit={sharedMessages.common.save}
          operation={UpdateServiceAccount}
          request={{ params: { id: account.id } }}
          values={account}
          readStored={async () => {
            const { serviceAccounts } = await call(ListServiceAccounts, {});
            return { value: serviceAccounts.find(({ id }) => id === account.id) ?? account };
          }}
          fields={[
            { name: 'name', label: text.name },
            { name: 'rootRole', label: text.rootRole, options: roleOptions(roles) },
            { name: 'active', label: text.isActive },
          ]}
          notification={() => text.saved(displayNameOf(account))}
          onClose={onClose}
        />
      );
    case 'tokens':
      return <TokensDialog account={account} onClose={onClose} />;
    case 'delete':
      return (
        <ConfirmOperationDialog
          title={text.deleteUserTitle(displayNameOf(account))}
          confirm={text.deleteUser}
          isDangerous
          operation={DeleteServiceAccount}
          request={{ params: { id: account.id } }}
          notification={text.deleted(displayNameOf(account))}
          onClose={onClose}
        >
          <p>{text.deleteServiceAccountHelp}</p>
          <UsageList
            query={{ data: account.tokens, error: null, refetch: () => undefined }}
            title={text.tokensOf}
            emptyText={text.noTokensOf}
            uses={(tokens) => tokens.map(({ id, description }) => ({ key: String(id), node: description }))}
          />
        </ConfirmOperationDialog>
      );
  }
};
