import {
  type Application,
  ListApplications,
  ListEdgeInstances,
  ListOutdatedSdks,
  ListProjectApplications,
  ListUnknownFlags,
  type ReplyOf,
} from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { operationQuery, useProjects } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ComboBox } from '../../../components/forms/fields.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { Time } from '../../../components/content/time.tsx';
import { applicationsMessages as text } from '../../../messages/administration/applications.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { AdminPage } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

const ApplicationPage = lazyRouteComponent(() => import('./application-page.tsx'), 'ApplicationPage');

const views = ['applications', 'unknown', 'edges'] as const;
/** The maximum number of applications that one request returns. */
const limit = 1_000;
type Edge = ReplyOf<typeof ListEdgeInstances>['edges'][number];

const ApplicationLink = ({ name }: { readonly name: string }) => (
  <Link to="/admin/$section/$item" params={{ section: 'applications', item: name }}>
    <bdi>{name}</bdi>
  </Link>
);

const formatUsage = ({ usage }: Application): string =>
  usage
    .map(({ project, environments }) => `${project === '*' ? text.everywhere : project}: ${environments.join(', ')}`)
    .join('; ');

/** The longest word of a search: the server searches by one word, and the list filters the result by the others. */
const longestWord = (search: string): string =>
  search.split(/\s+/).reduce((longest, word) => (word.length > longest.length ? word : longest), '');

const AllApplications = ({ filter }: { readonly filter: React.ReactNode }) => {
  const [search = ''] = useSearchParameter('q');
  const word = longestWord(search);
  const query = useQuery({
    ...operationQuery(ListApplications, { query: { limit, ...(word !== '' && { query: word }) } }),
    placeholderData: keepPreviousData,
  });
  const { applications = [], total = 0 } = query.data ?? {};
  return (
    <>
      {total > applications.length && <Notice>{text.more(applications.length, total)}</Notice>}
      <ResourceList
        label={text.page}
        query={{ ...query, data: query.data?.applications }}
        rowKey={({ appName }) => appName}
        name={({ appName }) => appName}
        filter={filter}
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: ({ appName, description }) => (
              <div className={styles['twoLines']}>
                <ApplicationLink name={appName} />
                {description !== null && description !== '' && <span dir="auto">{description}</span>}
              </div>
            ),
          },
          { id: 'sdk', title: text.sdk, cell: ({ sdkVersion }) => sdkVersion },
          { id: 'uses', title: text.projectsInUse, cell: formatUsage },
          { id: 'seen', title: text.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
          { id: 'created', title: text.firstSeen, cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        empty={{ title: text.none, help: text.noneHelp }}
      />
    </>
  );
};

interface OfProjectProps {
  readonly project: string;
  readonly filter: React.ReactNode;
}

const ApplicationsOfProject = ({ project, filter }: OfProjectProps) => {
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
        <Notice tone="warning">{text.outdatedSdks(outdated.map(({ sdkVersion }) => sdkVersion))}</Notice>
      )}
      <ResourceList
        label={text.page}
        query={{ ...query, data: query.data?.applications }}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ environments, sdks }) => [...environments, ...sdks.map(({ name }) => name)].join(' ')}
        filter={filter}
        columns={[
          { id: 'name', title: text.name, cell: ({ name }) => <ApplicationLink name={name} /> },
          { id: 'environments', title: text.environments, cell: ({ environments }) => environments.join(', ') },
          {
            id: 'sdks',
            title: text.sdks,
            cell: ({ sdks }) => (
              <span className={styles['badges']}>
                {sdks.flatMap(({ name, versions }) =>
                  versions.map((version) => (
                    <Badge key={`${name}:${version}`} tone={isOutdated(name, version) ? 'warning' : 'neutral'}>
                      {name} {version} {isOutdated(name, version) && text.outdated}
                    </Badge>
                  )),
                )}
              </span>
            ),
          },
          { id: 'instances', title: text.instances, cell: ({ instances }) => instances.length, isNumber: true },
        ]}
        empty={{ title: text.none, help: text.noneHelp }}
      />
    </>
  );
};

const Edges = () => {
  const query = useQuery(operationQuery(ListEdgeInstances, {}));
  const [openEdge, setOpenEdge] = useState<Edge | undefined>();
  return (
    <>
      <ResourceList
        label={text.viewNames.edges}
        query={{ ...query, data: query.data?.edges }}
        rowKey={({ identifier }) => String(identifier)}
        name={({ appName }) => String(appName)}
        text={({ identifier, region }) => `${String(identifier)} ${String(region ?? '')}`}
        columns={[
          { id: 'name', title: text.edge, cell: ({ appName }) => String(appName) },
          { id: 'id', title: text.identifier, cell: ({ identifier }) => <code>{String(identifier)}</code> },
          { id: 'version', title: text.version, cell: ({ edgeVersion }) => String(edgeVersion) },
          { id: 'region', title: text.region, cell: ({ region }) => String(region ?? '') },
          { id: 'reported', title: text.reported, cell: ({ reportedAt }) => <Time at={String(reportedAt)} /> },
        ]}
        actions={(edge) => [{ id: 'details', label: text.details, run: () => setOpenEdge(edge) }]}
        empty={{ title: text.edgesNone, help: text.edgesNoneHelp }}
      />
      {openEdge !== undefined && (
        <Dialog
          title={text.detailsOf(String(openEdge.appName))}
          onClose={() => setOpenEdge(undefined)}
          isWide
          footer={<Button onPress={() => setOpenEdge(undefined)}>{sharedMessages.common.close}</Button>}
        >
          <div className={styles['code']} role="region" aria-label={text.details} tabIndex={0}>
            <code>{JSON.stringify(openEdge, null, 2)}</code>
          </div>
        </Dialog>
      )}
    </>
  );
};

const UnknownFlags = () => {
  const query = useQuery(operationQuery(ListUnknownFlags, {}));
  return (
    <>
      <p>{text.unknownHelp}</p>
      <ResourceList
        label={text.viewNames.unknown}
        query={{ ...query, data: query.data?.unknownFlags }}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ reports }) => reports.map(({ appName }) => appName).join(' ')}
        columns={[
          { id: 'name', title: text.flag, cell: ({ name }) => <code dir="auto">{name}</code> },
          {
            id: 'applications',
            title: text.askingApplications,
            cell: ({ reports }) => (
              <span className={styles['badges']}>
                {reports.map(({ appName, environments }) => (
                  <span key={appName}>
                    <ApplicationLink name={appName} />{' '}
                    <span className={layout['muted']}>
                      {environments.map(({ environment }) => environment).join(', ')}
                    </span>
                  </span>
                ))}
              </span>
            ),
          },
          { id: 'seen', title: text.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
        ]}
        empty={{ title: text.noUnknown, help: text.noUnknownHelp }}
      />
    </>
  );
};

/** The option for all projects. */
const allProjects = '*';

const ApplicationsList = () => {
  const [viewInUrl] = useSearchParameter('view');
  const view = views.find((known) => known === viewInUrl) ?? 'applications';
  const [project, setProject] = useSearchParameter('project');
  const projects = useProjects().data?.projects ?? [];
  const filter = (
    <ComboBox
      key={projects.length}
      label={text.project}
      options={[
        { id: allProjects, label: text.everyProject },
        ...projects.map(({ id, name }) => ({ id, label: name, description: id })),
      ]}
      value={project ?? allProjects}
      onChange={(id) => setProject(id === allProjects ? undefined : id)}
    />
  );
  return (
    <AdminPage id="applications">
      <p className={layout['muted']}>{text.help}</p>
      <nav aria-label={text.views} className={layout['tabs']}>
        {views.map((tab) => (
          <Link
            key={tab}
            to="/admin/$section"
            params={{ section: 'applications' }}
            search={{ view: tab }}
            data-current={tab === view || undefined}
            aria-current={tab === view ? 'page' : undefined}
          >
            {text.viewNames[tab]}
          </Link>
        ))}
      </nav>
      {view === 'edges' && <Edges />}
      {view === 'unknown' && <UnknownFlags />}
      {view === 'applications' &&
        (project === undefined ? (
          <AllApplications filter={filter} />
        ) : (
          <ApplicationsOfProject project={project} filter={filter} />
        ))}
    </AdminPage>
  );
};

/** The applications that use flags, the Edge instances and the unknown flags; or one application, if the path names it. */
export const ApplicationsPage = () => {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  if (item === undefined) return <ApplicationsList />;
  return (
    <Suspense fallback={<Loading />}>
      <ApplicationPage key={item} name={item} />
    </Suspense>
  );
};
