import {
  type ApiToken,
  type ApiTokenAction,
  apiTokenPermission,
  CreateApiToken,
  DeleteApiToken,
  ListApiTokens,
  UpdateApiToken,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../../../api/permissions.ts';
import { serverNow } from '../../../api/server-clock.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { apiTokenTypes, tokenTypeOptions } from '../../../text/api-token-types.ts';
import { AdminCatalogue } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import { ProjectNames, useProjectNames } from '../../../components/content/project-name.tsx';
import styles from '../people/people.module.css';
import { isolated } from '../../../text/isolated.ts';

type Type = ApiToken['type'];
const types: readonly Type[] = ['client', 'frontend', 'admin'];
const tones = { client: 'neutral', frontend: 'accent', admin: 'warning' } as const;

function loadDialogs() {
  return import('./api-token-dialogs.tsx');
}
const CreateApiTokenDialog = lazyPart(async () => (await loadDialogs()).CreateApiTokenDialog);
const ExtendApiTokenDialog = lazyPart(async () => (await loadDialogs()).ExtendApiTokenDialog);

function isPast(at: string): boolean {
  return Date.parse(at) < serverNow();
}

function Expiry({ expiresAt }: ApiToken) {
  return expiresAt != null && isPast(expiresAt) ? (
    <Badge tone="danger">
      Expired <Time at={expiresAt} />
    </Badge>
  ) : (
    <Time at={expiresAt} />
  );
}

/** The keys of SDKs and scripts. */
export function ApiTokensPage() {
  const tokens = useQuery(operationQuery(ListApiTokens, {}));
  const [type, setType] = useSearchParameter('type');
  const nameOf = useProjectNames();
  const hasPermission = usePermissionCheck();
  const mayActOn = (action: ApiTokenAction, tokenType: Type): boolean =>
    hasPermission(apiTokenPermission(action, tokenType));
  const allTokens = tokens.data?.tokens;
  const rows = types.some((known) => known === type) ? allTokens?.filter((token) => token.type === type) : allTokens;
  return (
    <AdminCatalogue
      id="api-tokens"
      noun="API token"
      label="API tokens"
      preload={loadDialogs}
      above={
        <p className={layout['muted']}>
          A script that acts for a person uses a personal token, one that acts for a team a service account.
        </p>
      }
      query={{ ...tokens, data: rows }}
      rowKey={({ secret }) => secret}
      name={({ tokenName }) => tokenName}
      text={(token) =>
        [token.type, token.environment, ...token.projects, ...token.projects.map(nameOf), token.secret].join(' ')
      }
      filter={
        <Select
          label="Type of token"
          options={[{ id: '*', label: 'Every type' }, ...tokenTypeOptions(types)]}
          value={type ?? '*'}
          onChange={(id) => setType(id === '*' ? undefined : id)}
        />
      }
      columns={[
        {
          title: 'Name',
          cell: ({ tokenName, secret }) => (
            <div className={styles['twoLines']}>
              <strong>
                <bdi>{tokenName}</bdi>
              </strong>
              <code title={secret}>{secret}</code>
            </div>
          ),
        },
        { title: 'Type', cell: (token) => <Badge tone={tones[token.type]}>{apiTokenTypes[token.type][0]}</Badge> },
        {
          title: 'Projects',
          cell: ({ projects }) =>
            projects.includes('*') ? (
              <span className={layout['nowrap']}>all projects</span>
            ) : (
              <span className={layout['names']}>
                <ProjectNames ids={projects} />
              </span>
            ),
        },
        {
          title: 'Environment',
          cell: ({ environment }) => (
            <span className={layout['names']}>
              {environment === '*' ? 'all environments' : <EnvironmentName name={environment} />}
            </span>
          ),
        },
        { title: 'Last used', cell: ({ seenAt }) => <Time at={seenAt} /> },
        { title: 'Expires', cell: Expiry },
        { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
      create={{
        operation: CreateApiToken,
        dialog: (onClose) => (
          <CreateApiTokenDialog types={types.filter((one) => mayActOn('CREATE', one))} onClose={onClose} />
        ),
      }}
      actions={[
        {
          id: 'extend',
          label: 'Change when it expires',
          icon: 'events',
          operation: UpdateApiToken,
          isOffered: (token) => mayActOn('UPDATE', token.type),
          dialog: (token, onClose) => <ExtendApiTokenDialog token={token} onClose={onClose} />,
        },
      ]}
      remove={{
        operation: DeleteApiToken,
        isOffered: (token) => mayActOn('DELETE', token.type),
        title: (name) => `Delete the token “${isolated(name)}”?`,
        notification: (name) => `${isolated(name)} is deleted.`,
        request: ({ secret }) => ({ params: { token: secret } }),
        usage: ({ seenAt }) => (
          <>
            <p>What uses it stops working immediately; SDKs go on with what they know last.</p>
            <p>
              {seenAt == null ? (
                'It has never been used.'
              ) : (
                <>
                  It was last used <Time at={seenAt} />.
                </>
              )}
            </p>
          </>
        ),
      }}
      empty={{
        title: 'No API tokens yet',
        help: 'Create a client token for a server, or a frontend token for a browser or an app.',
      }}
    />
  );
}
