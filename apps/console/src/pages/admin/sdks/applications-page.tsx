import { type Application, ListApplications, ListOutdatedSdks, ListProjectApplications } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Link, useParams } from '@tanstack/react-router';
import { Fragment, Suspense } from 'react';
import { operationQuery, useProjects } from '../../../api/queries-and-mutations.ts';
import { Notice } from '../../../components/content/notice.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { ComboBox } from '../../../components/forms/selects.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { AdminPage } from '../admin-page.tsx';
import { ProjectNames } from '../../../components/content/project-name.tsx';
import { ConnectSdkButton } from '../../connect/connect-sdk-button.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { Edges } from './edges.tsx';

const texts = {
  noneHelp:
    'Give an SDK a client or frontend token. It registers when it starts, and reports which flags it evaluates.',
  outdatedSdks: (names: readonly string[]) =>
    `${formatCount(names.length, 'SDK')} of this project ${names.length === 1 ? 'is' : 'are'} outdated, because an instance here runs a newer major version: ${names.join(', ')}.`,
  viewNames: { applications: 'Applications', edges: 'Edges' },
} as const;

const ApplicationPage = lazyRouteComponent(() => import('./application-page.tsx'), 'ApplicationPage');

const views = ['applications', 'edges'] as const;
/** The maximum number of applications that one request returns. */
const limit = 1_000;

function ApplicationLink({ name }: { readonly name: string }) {
  return (
    <Link to="/admin/$section/$item" params={{ section: 'applications', item: name }}>
      <bdi>{name}</bdi>
    </Link>
  );
}

function Usage({ usage }: Pick<Application, 'usage'>) {
  return usage.map(({ project, environments }, nth) => (
    <Fragment key={project}>
      {nth > 0 && '; '}
      <ProjectNames ids={[project]} />: {environments.join(', ')}
    </Fragment>
  ));
}

/** The longest word of a search: the server searches by one word, and the list filters the result by the others. */
function longestWord(search: string): string {
  return search.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), '');
}

function AllApplications({ filter }: { readonly filter: React.ReactNode }) {
  const [search = ''] = useSearchParameter('q');
  const word = longestWord(search);
  const query = useQuery({
    ...operationQuery(ListApplications, { query: { limit, ...(word !== '' && { query: word }) } }),
    placeholderData: keepPreviousData,
  });
  const { applications = [], total = 0 } = query.data ?? {};
  return (
    <>
      {total > applications.length && (
        <Notice>
          The first {applications.length} of {total}. Search to find the others.
        </Notice>
      )}
      <ResourceList
        label="Applications"
        query={{ ...query, data: query.data?.applications }}
        rowKey={({ appName }) => appName}
        name={({ appName }) => appName}
        filter={filter}
        columns={[
          {
            title: 'Application',
            cell: ({ appName, description }) => (
              <div className={styles['twoLines']}>
                <ApplicationLink name={appName} />
                {description !== null && description !== '' && <span dir="auto">{description}</span>}
              </div>
            ),
          },
          { title: 'SDK', cell: ({ sdkVersion }) => <span className={layout['nowrap']}>{sdkVersion}</span> },
          { title: 'Uses', cell: ({ usage }) => <Usage usage={usage} /> },
          { title: 'Last seen', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
          { title: 'First seen', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        empty={{ title: 'No application has reported yet', help: texts.noneHelp, action: <ConnectSdkButton /> }}
      />
    </>
  );
}

interface OfProjectProps {
  readonly project: string;
  readonly filter: React.ReactNode;
}

function ApplicationsOfProject({ project, filter }: OfProjectProps) {
  const params = { projectId: project };
  const [search = ''] = useSearchParameter('q');
  const word = longestWord(search);
  const query = useQuery({
    ...operationQuery(ListProjectApplications, { params, query: { limit, ...(word !== '' && { query: word }) } }),
    placeholderData: keepPreviousData,
  });
  const outdated = useQuery(operationQuery(ListOutdatedSdks, { params })).data?.sdks ?? [];
  const isOutdated = (name: string, version: string): boolean =>
    outdated.some(({ sdkVersion }) => sdkVersion === `${name}:${version}`);
  return (
    <>
      {outdated.length > 0 && (
        <Notice tone="warning">{texts.outdatedSdks(outdated.map(({ sdkVersion }) => sdkVersion))}</Notice>
      )}
      <ResourceList
        label="Applications"
        query={{ ...query, data: query.data?.applications }}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ environments, sdks }) => [...environments, ...sdks.map(({ name }) => name)].join(' ')}
        filter={filter}
        columns={[
          { title: 'Application', cell: ({ name }) => <ApplicationLink name={name} /> },
          { title: 'Environments', cell: ({ environments }) => environments.join(', ') },
          {
            title: 'SDKs',
            cell: ({ sdks }) => (
              <span className={styles['badges']}>
                {sdks.flatMap(({ name, versions }) =>
                  versions.map((version) => (
                    <Badge key={`${name}:${version}`} tone={isOutdated(name, version) ? 'warning' : 'neutral'}>
                      {name} {version} {isOutdated(name, version) && 'outdated'}
                    </Badge>
                  )),
                )}
              </span>
            ),
          },
          { title: 'Instances', cell: ({ instances }) => instances.length, isNumber: true },
        ]}
        empty={{
          title: 'No application has reported yet',
          help: texts.noneHelp,
          action: <ConnectSdkButton project={project} />,
        }}
      />
    </>
  );
}

/** The option for all projects. */
const allProjects = '*';

function ApplicationsList() {
  const [viewInUrl] = useSearchParameter('view');
  const view = views.find((known) => known === viewInUrl) ?? 'applications';
  const [project, setProject] = useSearchParameter('project');
  const projects = useProjects().data?.projects ?? [];
  const filter = (
    <ComboBox
      label="Project"
      options={[
        { id: allProjects, label: 'All projects' },
        ...projects.map(({ id, name }) => ({ id, label: name, description: id })),
      ]}
      value={project ?? allProjects}
      onChange={(id) => setProject(id === allProjects ? undefined : id)}
    />
  );
  return (
    <AdminPage id="applications">
      <p className={layout['muted']}>
        Figures about instances and flags are those of the last two days. Names that applications ask for and that no
        flag has are the{' '}
        <Link to="/cleanup" search={{ reason: 'unknown' }}>
          unknown flags
        </Link>{' '}
        of Cleanup.
      </p>
      <nav aria-label="Kinds of clients" className={layout['tabs']}>
        {views.map((tab) => (
          <Link
            key={tab}
            to="/admin/$section"
            params={{ section: 'applications' }}
            search={{ view: tab }}
            data-current={tab === view || undefined}
            aria-current={tab === view ? 'page' : undefined}
          >
            {texts.viewNames[tab]}
          </Link>
        ))}
      </nav>
      {view === 'edges' && <Edges />}
      {view === 'applications' &&
        (project === undefined ? (
          <AllApplications filter={filter} />
        ) : (
          <ApplicationsOfProject project={project} filter={filter} />
        ))}
    </AdminPage>
  );
}

/** The applications that use flags and the edges; or one application, if the path names it. */
export function ApplicationsPage() {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  if (item === undefined) return <ApplicationsList />;
  return (
    <Suspense fallback={<Loading />}>
      <ApplicationPage key={item} name={item} />
    </Suspense>
  );
}
