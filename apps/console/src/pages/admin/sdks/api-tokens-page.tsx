import { type ApiToken, CreateApiToken, DeleteApiToken, ListApiTokens, UpdateApiToken } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Select } from '../../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

export const apiTokenTypes = {
  client: ['Client', 'SDKs in servers: all settings of flags'],
  frontend: ['Frontend', 'Browsers and apps: evaluated flags only, may be public'],
  admin: ['Admin', 'The whole API, like an administrator'],
} as const;

type Type = ApiToken['type'];
const types: readonly Type[] = ['client', 'frontend', 'admin'];
const tones = { client: 'neutral', frontend: 'accent', admin: 'warning' } as const;

const loadDialogs = () => import('./api-token-dialogs.tsx');
const CreateApiTokenDialog = lazyRouteComponent(loadDialogs, 'CreateApiTokenDialog');
const ExtendApiTokenDialog = lazyRouteComponent(loadDialogs, 'ExtendApiTokenDialog');

const isPast = (at: string): boolean => Date.parse(at) < Date.now();

const Expiry = ({ expiresAt }: ApiToken) =>
  expiresAt != null && isPast(expiresAt) ? (
    <Badge tone="danger">
      Expired <Time at={expiresAt} />
    </Badge>
  ) : (
    <Time at={expiresAt} />
  );

/** The name of a project or environment; `allText` for `*`, which stands for all of them. */
const nameOrAll = (name: string, allText: string): string => (name === '*' ? allText : name);

/** The keys of SDKs and scripts. */
export const ApiTokensPage = () => {
  const tokens = useQuery(operationQuery(ListApiTokens, {}));
  const mayCall = useMayCall();
  const [type, setType] = useSearchParameter('type');
  const [isCreating, setCreating] = useState(false);
  const [tokenToExtend, setTokenToExtend] = useState<ApiToken | undefined>();
  const [tokenToDelete, setTokenToDelete] = useState<ApiToken | undefined>();
  // Loads the dialogs before they are needed: letters that are typed right after the shortcut would be lost while a dialog is loading.
  useEffect(() => void loadDialogs(), []);
  usePageActions([
    { id: 'tokens.create', title: 'Create an API token', key: 'c', run: () => setCreating(mayCall(CreateApiToken)) },
  ]);
  const allTokens = tokens.data?.tokens;
  const rows = types.some((known) => known === type) ? allTokens?.filter((token) => token.type === type) : allTokens;
  return (
    <AdminPage
      id="api-tokens"
      actions={
        mayCall(CreateApiToken) && (
          <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
            Create an API token
          </Button>
        )
      }
    >
      <MissingPermissionNotice operation={CreateApiToken} />
      <p className={layout['muted']}>
        SDKs and scripts that act for no user use these. A script that acts for a person uses a personal token, one that
        acts for a team a service account.
      </p>
      <ResourceList
        label="API tokens"
        query={{ ...tokens, data: rows }}
        rowKey={({ secret }) => secret}
        name={({ tokenName }) => tokenName}
        text={(token) => [token.type, token.environment, ...token.projects, token.secret].join(' ')}
        filter={
          <Select
            label="Type of token"
            options={[{ id: '*', label: 'Every type' }, ...types.map((id) => ({ id, label: apiTokenTypes[id][0] }))]}
            value={type ?? '*'}
            onChange={(id) => setType(id === '*' ? undefined : id)}
          />
        }
        columns={[
          {
            id: 'name',
            title: 'Name',
            cell: ({ tokenName, secret }) => (
              <div className={styles['twoLines']}>
                <strong>
                  <bdi>{tokenName}</bdi>
                </strong>
                <code>{secret}</code>
              </div>
            ),
          },
          {
            id: 'type',
            title: 'Type',
            cell: (token) => <Badge tone={tones[token.type]}>{apiTokenTypes[token.type][0]}</Badge>,
          },
          {
            id: 'projects',
            title: 'Projects',
            cell: ({ projects }) => projects.map((project) => nameOrAll(project, 'All projects')).join(', '),
          },
          {
            id: 'environment',
            title: 'Environment',
            cell: ({ environment }) => nameOrAll(environment, 'All environments'),
          },
          { id: 'seen', title: 'Last seen', cell: ({ seenAt }) => <Time at={seenAt} /> },
          { id: 'expires', title: 'Expires', cell: Expiry },
          { id: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        actions={(token) => [
          ...(mayCall(UpdateApiToken)
            ? [
                {
                  id: 'extend',
                  label: 'Change when it expires',
                  icon: 'events' as const,
                  run: () => setTokenToExtend(token),
                },
              ]
            : []),
          ...(mayCall(DeleteApiToken)
            ? [{ id: 'remove', label: 'Delete', icon: 'remove' as const, run: () => setTokenToDelete(token) }]
            : []),
        ]}
        empty={{
          title: 'No API tokens yet',
          help: 'Create a client token for a server, or a frontend token for a browser or an app.',
        }}
      />
      <Suspense>
        {isCreating && <CreateApiTokenDialog onClose={() => setCreating(false)} />}
        {tokenToExtend !== undefined && (
          <ExtendApiTokenDialog token={tokenToExtend} onClose={() => setTokenToExtend(undefined)} />
        )}
      </Suspense>
      {tokenToDelete !== undefined && (
        <ConfirmOperationDialog
          title={`Delete the token “${tokenToDelete.tokenName}”?`}
          confirm="Delete"
          isDangerous
          operation={DeleteApiToken}
          request={{ params: { token: tokenToDelete.secret } }}
          notification={`${tokenToDelete.tokenName} is deleted.`}
          onClose={() => setTokenToDelete(undefined)}
        >
          <p>What uses it stops working immediately; SDKs go on with what they know last.</p>
          <p>
            {tokenToDelete.seenAt == null ? (
              'It has never been used.'
            ) : (
              <>
                It was last used <Time at={tokenToDelete.seenAt} />.
              </>
            )}
          </p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
