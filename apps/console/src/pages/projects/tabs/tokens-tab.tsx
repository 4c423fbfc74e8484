import { CreateProjectApiToken, DeleteProjectApiToken, ListProjectApiTokens } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { ProjectNames } from '../../../components/content/project-name.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Catalogue } from '../../../components/resources/catalogue.tsx';
import { Time } from '../../../components/content/time.tsx';
import layout from '../../../components/layout/layout.module.css';
import { apiTokenTypes } from '../../../text/api-token-types.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';

const CreateProjectTokenDialog = lazyPart(() =>
  import('./create-project-token-dialog.tsx').then(({ CreateProjectTokenDialog }) => CreateProjectTokenDialog),
);

/** The API tokens with access to a project. */
export function TokensTab({ project }: { readonly project: string }) {
  const tokens = useQuery({
    ...operationQuery(ListProjectApiTokens, { params: { projectId: project } }),
    select: ({ tokens: rows }) => rows,
  });
  return (
    <div className={layout['stack']}>
      <Catalogue
        noun="API token"
        label="API tokens"
        scope={{ project }}
        query={tokens}
        rowKey={({ secret, createdAt }) => `${secret} ${createdAt}`}
        name={({ tokenName }) => tokenName}
        text={({ environment, type }) => `${environment} ${type}`}
        columns={[
          { title: 'Name', cell: ({ tokenName }) => <strong>{tokenName}</strong> },
          { title: 'Type', cell: ({ type }) => apiTokenTypes[type][0] },
          { title: 'Projects', cell: ({ projects }) => <ProjectNames ids={projects} /> },
          { title: 'Environment', cell: ({ environment }) => <EnvironmentName name={environment} /> },
          { title: 'Last used', cell: ({ seenAt }) => <Time at={seenAt} /> },
          { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
        ]}
        create={{
          operation: CreateProjectApiToken,
          label: 'Create a token',
          dialog: (onClose) => <CreateProjectTokenDialog project={project} onClose={onClose} />,
        }}
        remove={{
          operation: DeleteProjectApiToken,
          label: 'Delete the token',
          isOffered: ({ projects }) => projects.every((one) => one === project),
          request: ({ secret }) => ({ params: { projectId: project, token: secret } }),
          usage: ({ seenAt }) => (
            <>
              <p>Whatever uses it gets no flags any more, within seconds.</p>
              {seenAt != null && (
                <Notice tone="warning">
                  Last used: <Time at={seenAt} />
                </Notice>
              )}
            </>
          ),
        }}
        empty={{
          title: 'No API tokens yet',
          help: 'An application asks for flags with a token. It gives one environment of this project.',
        }}
      />
    </div>
  );
}
