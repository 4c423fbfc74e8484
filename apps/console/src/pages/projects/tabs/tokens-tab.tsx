import { type ApiToken, CreateProjectApiToken, DeleteProjectApiToken, ListProjectApiTokens } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import layout from '../../../components/layout/layout.module.css';

export const projectTokenTypes = {
  client: ['Servers', 'Gets all flags with their strategies: keep it secret'],
  frontend: ['Browsers and mobile apps', 'Gets evaluated flags only, and may be public'],
} as const;

const typeNames = new Map(Object.entries(projectTokenTypes).map(([id, [label]]) => [id, label]));
const typeName = (type: ApiToken['type']): string => typeNames.get(type) ?? type;

const CreateProjectTokenDialog = lazy(() =>
  import('./create-project-token-dialog.tsx').then(({ CreateProjectTokenDialog: component }) => ({
    default: component,
  })),
);

/** The API tokens with access to a project. */
export const TokensTab = ({ project }: { readonly project: string }) => {
  const tokens = useQuery({
    ...operationQuery(ListProjectApiTokens, { params: { projectId: project } }),
    select: ({ tokens: rows }) => rows,
  });
  const mayCall = useMayCall();
  const [isCreating, setCreating] = useState(false);
  const [tokenToDelete, setTokenToDelete] = useState<ApiToken>();
  const createButton = mayCall(CreateProjectApiToken, { project }) && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      Create a token
    </Button>
  );
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={CreateProjectApiToken} scope={{ project }} />
      {(tokens.data?.length ?? 0) > 0 && <div>{createButton}</div>}
      <ResourceList
        label="API tokens"
        query={tokens}
        rowKey={({ secret, createdAt }) => `${secret} ${createdAt}`}
        name={({ tokenName }) => tokenName}
        text={({ environment, type }) => `${environment} ${type}`}
        columns={[
          { id: 'name', title: 'Name', cell: ({ tokenName }) => <strong>{tokenName}</strong> },
          { id: 'type', title: 'For', cell: ({ type }) => typeName(type) },
          { id: 'environment', title: 'Environment', cell: ({ environment }) => <Badge>{environment}</Badge> },
          {
            id: 'projects',
            title: 'Projects',
            cell: ({ projects }) => (projects.includes('*') ? 'all projects' : projects.join(', ')),
          },
          { id: 'seen', title: 'Last used', cell: ({ seenAt }) => <Time at={seenAt} /> },
          {
            id: 'until',
            title: 'Until',
            cell: ({ expiresAt }) => (expiresAt == null ? 'for ever' : <Time at={expiresAt} />),
          },
        ]}
        actions={(token) =>
          mayCall(DeleteProjectApiToken, { project }) && !token.projects.includes('*')
            ? [{ id: 'delete', label: 'Delete the token', icon: 'remove', run: () => setTokenToDelete(token) }]
            : []
        }
        empty={{
          title: 'No API tokens yet',
          help: 'An application asks for flags with a token. It gives one environment of this project.',
          action: createButton,
        }}
      />
      <Suspense>
        {isCreating && <CreateProjectTokenDialog project={project} onClose={() => setCreating(false)} />}
      </Suspense>
      {tokenToDelete !== undefined && (
        <ConfirmOperationDialog
          title={`Delete the API token “${tokenToDelete.tokenName}”`}
          confirm="Delete the token"
          isDangerous
          operation={DeleteProjectApiToken}
          request={{ params: { projectId: project, token: tokenToDelete.secret } }}
          notification={`The API token ${tokenToDelete.tokenName} is deleted.`}
          onClose={() => setTokenToDelete(undefined)}
        >
          <p>Whatever uses it gets no flags any more, within seconds.</p>
          {tokenToDelete.seenAt != null && (
            <Notice tone="warning">
              Last used: <Time at={tokenToDelete.seenAt} />
            </Notice>
          )}
        </ConfirmOperationDialog>
      )}
    </div>
  );
};
