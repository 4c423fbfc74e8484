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
import { apiTokensMessages as text } from '../../../messages/administration/api-tokens.ts';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

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
      {text.expired} <Time at={expiresAt} />
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
    { id: 'tokens.create', title: text.create, key: 'c', run: () => setCreating(mayCall(CreateApiToken)) },
  ]);
  const allTokens = tokens.data?.tokens;
  const rows = types.some((known) => known === type) ? allTokens?.filter((token) => token.type === type) : allTokens;
  return (
    <AdminPage
      id="api-tokens"
      actions={
        mayCall(CreateApiToken) && (
          <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
            {text.create}
          </Button>
        )
      }
    >
      <MissingPermissionNotice operation={CreateApiToken} />
      <p className={layout['muted']}>{text.help}</p>
      <ResourceList
        label={text.page}
        query={{ ...tokens, data: rows }}
        rowKey={({ secret }) => secret}
        name={({ tokenName }) => tokenName}
        text={(token) => [token.type, token.environment, ...token.projects, token.secret].join(' ')}
        filter={
          <Select
            label={text.filterType}
            options={[{ id: '*', label: text.everyType }, ...types.map((id) => ({ id, label: text.types[id][0] }))]}
            value={type ?? '*'}
            onChange={(id) => setType(id === '*' ? undefined : id)}
          />
        }
        columns={[
          {
            id: 'name',
            title: text.name,
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
            title: text.type,
            cell: (token) => <Badge tone={tones[token.type]}>{text.types[token.type][0]}</Badge>,
          },
          {
            id: 'projects',
            title: text.projects,
            cell: ({ projects }) => projects.map((project) => nameOrAll(project, text.allProjects)).join(', '),
          },
          {
            id: 'environment',
            title: text.environment,
            cell: ({ environment }) => nameOrAll(environment, text.allEnvironments),
          },
          { id: 'seen', title: text.lastSeen, cell: ({ seenAt }) => <Time at={seenAt} /> },
          { id: 'expires', title: text.expires, cell: Expiry },
          { id: 'created', title: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        actions={(token) => [
          ...(mayCall(UpdateApiToken)
            ? [{ id: 'extend', label: text.extend, icon: 'events' as const, run: () => setTokenToExtend(token) }]
            : []),
          ...(mayCall(DeleteApiToken)
            ? [{ id: 'remove', label: text.remove, icon: 'remove' as const, run: () => setTokenToDelete(token) }]
            : []),
        ]}
        empty={{ title: text.none, help: text.noneHelp }}
      />
      <Suspense>
        {isCreating && <CreateApiTokenDialog onClose={() => setCreating(false)} />}
        {tokenToExtend !== undefined && (
          <ExtendApiTokenDialog token={tokenToExtend} onClose={() => setTokenToExtend(undefined)} />
        )}
      </Suspense>
      {tokenToDelete !== undefined && (
        <ConfirmOperationDialog
          title={text.removeTitle(tokenToDelete.tokenName)}
          confirm={text.remove}
          isDangerous
          operation={DeleteApiToken}
          request={{ params: { token: tokenToDelete.secret } }}
          notification={text.removed(tokenToDelete.tokenName)}
          onClose={() => setTokenToDelete(undefined)}
        >
          <p>{text.removeHelp}</p>
          <p>
            {tokenToDelete.seenAt == null ? (
              text.neverUsed
            ) : (
              <>
                {text.lastUse} <Time at={tokenToDelete.seenAt} />.
              </>
            )}
          </p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
