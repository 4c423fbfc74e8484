import { type Application, ListApplications, ListOutdatedSdks, ListProjectApplications } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Fragment, Suspense } from 'react';
import { operationQuery, useProjects } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { ComboBox, Select } from '../../../components/forms/selects.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { AdminPage } from '../admin-page.tsx';
import { ProjectNames } from '../../../components/content/project-name.tsx';
import { ConnectSdkButton } from '../../connect/connect-sdk-button.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import { Edges } from './edges.tsx';

const texts = {
  noneHelp:
    'Give an SDK a client or frontend token. It registers when it starts, and reports which flags it evaluates.',
  outdatedSdks: (names: readonly string[]) =>
    `${formatCount(names.length, 'SDK')} of this project ${names.length === 1 ? 'is' : 'are'} outdated, because an instance here runs a newer major version: ${names.join(', ')}.`,
  viewNames: { applications: 'Applications', edges: 'Edges' },
} as const;

const ApplicationPage = lazyPart(async () => (await import('./application-page.tsx')).ApplicationPage);

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
  return (
    <span className={layout['names']}>
      {usage.map(({ project, environments }, nth) => (
        <Fragment key={project}>
          {nth > 0 && '; '}
          <ProjectNames ids={[project]} />: {environments.join(', ')}
        </Fragment>
      ))}
    </span>
  );
}

/** The longest word of a search: the server searches by one word, in names, and the list filters the result by the others. */
function longestWord(search: string): string {
  return search.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), '');
}

interface Sdk {
  readonly label: string;
  readonly isOutdated: boolean;
}

function Sdks({ sdks }: { readonly sdks: readonly Sdk[] }) {
  return (
    <span className={styles['badges']}>
      {sdks.map(({ label, isOutdated }) => (
        <Badge key={label} tone={isOutdated ? 'warning' : 'neutral'}>
          {label} {isOutdated && 'outdated'}
        </Badge>
      ))}
    </span>
  );
}

/** Which applications are listed, by the SDKs of their instances: `sdks` of the URL. */
const sdkFilters: readonly {
  readonly id: string;
  readonly label: string;
  readonly has: (application: Application) => boolean;
}[] = [
  { id: 'all', label: 'All', has: () => true },
  { id: 'outdated', label: 'Outdated', has: ({ sdks = [] }) => sdks.some(({ isOutdated }) => isOutdated) },
  { id: 'several', label: 'Several versions', has: ({ sdks = [] }) => sdks.length > 1 },
  { id: 'none', label: 'No instance now', has: ({ instances }) => instances === 0 },
];

function AllApplications({ filter }: { readonly filter: React.ReactNode }) {
  const [search = ''] = useSearchParameter('q');
  const [sdks = 'all', setSdks] = useSearchParameter('sdks');
  const chosen = sdkFilters.find(({ id }) => id === sdks) ?? sdkFilters[0];
  const word = longestWord(search);
  const first = useQuery(operationQuery(ListApplications, { query: { limit } }));
  const hasAll = (first.data?.total ?? 0) <= limit || word === '';
  const found = useQuery({
    ...operationQuery(ListApplications, { query: { limit, query: word } }),
    enabled: !hasAll,
    placeholderData: keepPreviousData,
  });
  const query = hasAll ? first : found;
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
        query={{ ...query, data: query.data?.applications.filter((one) => chosen?.has(one)) }}
        rowKey={({ appName }) => appName}
        name={({ appName }) => appName}
        text={({ sdks: used = [], usage }) =>
          [...used.map(({ sdkVersion }) => sdkVersion), ...usage.flatMap(({ environments }) => environments)].join(' ')
        }
        filter={
          <>
            {filter}
            <Select
              label="SDKs"
              options={sdkFilters.map(({ id, label }) => ({ id, label }))}
              value={chosen?.id ?? null}
              onChange={(id) => setSdks(id === 'all' ? undefined : id)}
            />
          </>
        }
        columns={[
          {
            title: 'Application',
            sortBy: ({ appName }) => appName,
            cell: ({ appName, description }) => (
              <div className={styles['twoLines']}>
                <ApplicationLink name={appName} />
                {description !== null && description !== '' && <span dir="auto">{description}</span>}
              </div>
            ),
          },
          {
            title: 'SDKs',
            sortBy: ({ sdks, sdkVersion }) => sdks?.[0]?.sdkVersion ?? sdkVersion ?? undefined,
            cell: ({ sdks = [], sdkVersion }) =>
              sdks.length === 0 ? (
                <span className={layout['muted']}>{sdkVersion}</span>
              ) : (
                <Sdks sdks={sdks.map((used) => ({ label: used.sdkVersion, isOutdated: used.isOutdated }))} />
              ),
          },
          {
            title: 'Instances',
            isNumber: true,
            sortBy: ({ instances = 0 }) => instances,
            cell: ({ instances = 0 }) => formatNumber(instances),
          },
          { title: 'Uses', cell: ({ usage }) => <Usage usage={usage} /> },
          {
            title: 'Last seen',
            sortBy: ({ lastSeenAt }) => Date.parse(lastSeenAt),
            cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
          },
          {
            title: 'First seen',
            sortBy: ({ createdAt }) => Date.parse(createdAt),
            cell: ({ createdAt }) => <Time at={createdAt} />,
          },
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
          { title: 'Application', sortBy: ({ name }) => name, cell: ({ name }) => <ApplicationLink name={name} /> },
          { title: 'Environments', cell: ({ environments }) => environments.join(', ') },
          {
            title: 'SDKs',
            cell: ({ sdks }) => (
              <Sdks
                sdks={sdks.flatMap(({ name, versions }) =>
                  versions.map((version) => ({ label: `${name} ${version}`, isOutdated: isOutdated(name, version) })),
                )}
              />
            ),
          },
          {
            title: 'Instances',
            isNumber: true,
            sortBy: ({ instances }) => instances.length,
            cell: ({ instances }) => formatNumber(instances.length),
          },
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
