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
import { projectsMessages as text } from '../../../messages/projects.ts';
import layout from '../../../components/layout/layout.module.css';

const typeNames = new Map(Object.entries(text.tokenTypes).map(([id, [label]]) => [id, label]));
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
      {text.createToken}
    </Button>
  );
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={CreateProjectApiToken} scope={{ project }} />
      {(tokens.data?.length ?? 0) > 0 && <div>{createButton}</div>}
      <ResourceList
        label={text.tabs.tokens}
        query={tokens}
        rowKey={({ secret, createdAt }) => `${secret} ${createdAt}`}
        name={({ tokenName }) => tokenName}
        text={({ environment, type }) => `${environment} ${type}`}
        columns={[
          { id: 'name', title: text.tokenName, cell: ({ tokenName }) => <strong>{tokenName}</strong> },
          { id: 'type', title: text.tokenType, cell: ({ type }) => typeName(type) },
          { id: 'environment', title: text.environment, cell: ({ environment }) => <Badge>{environment}</Badge> },
          {
            id: 'projects',
            title: text.tokenScope,
            cell: ({ projects }) => (projects.includes('*') ? text.allProjects : projects.join(', ')),
          },
          { id: 'seen', title: text.tokenSeen, cell: ({ seenAt }) => <Time at={seenAt} /> },
          {
            id: 'until',
            title: text.tokenExpiry,
            cell: ({ expiresAt }) => (expiresAt == null ? text.forEver : <Time at={expiresAt} />),
          },
        ]}
        actions={(token) =>
          mayCall(DeleteProjectApiToken, { project }) && !token.projects.includes('*')
            ? [{ id: 'delete', label: text.deleteToken, icon: 'remove', run: () => setTokenToDelete(token) }]
            : []
        }
        empty={{ title: text.noTokens, help: text.noTokensHelp, action: createButton }}
      />
      <Suspense>
        {isCreating && <CreateProjectTokenDialog project={project} onClose={() => setCreating(false)} />}
      </Suspense>
      {tokenToDelete !== undefined && (
        <ConfirmOperationDialog
          title={text.deleteTokenTitle(tokenToDelete.tokenName)}
          confirm={text.deleteToken}
          isDangerous
          operation={DeleteProjectApiToken}
          request={{ params: { projectId: project, token: tokenToDelete.secret } }}
          notification={text.tokenDeleted(tokenToDelete.tokenName)}
          onClose={() => setTokenToDelete(undefined)}
        >
          <p>{text.deleteTokenHelp}</p>
          {tokenToDelete.seenAt != null && (
            <Notice tone="warning">
              {text.tokenSeen}: <Time at={tokenToDelete.seenAt} />
            </Notice>
          )}
        </ConfirmOperationDialog>
      )}
    </div>
  );
};
