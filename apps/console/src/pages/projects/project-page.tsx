import { GetProjectOverview, ReviveProject } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, PlaceOfButton } from '../../components/buttons/button.tsx';
import { QueryResult, Loading, EmptyState } from '../../components/content/query-result.tsx';
import { useMayCall, usePermissionCheck } from '../../api/permissions.ts';
import { useKeptPage } from '../../components/dialogs/unfinished-forms.tsx';
import { Page } from '../../components/layout/page.tsx';
import { ConnectSdkButton } from '../connect/connect-sdk-button.tsx';
import { CreateFlagButton } from '../flags/create-flag-button.tsx';
import { flagCountOf } from './project-cell.tsx';
import { ProjectModeBadge } from './project-mode-badge.tsx';
import { ReviveProjectDialog } from './revive-project-dialog.tsx';
import { MissingTabPermission, projectTabNames, ProjectTabs, useOffersTab } from './project-tabs.tsx';
import { isolated } from '../../text/isolated.ts';

const Overview = lazyRouteComponent(() => import('./tabs/overview-tab.tsx'), 'ProjectOverviewTab');

const tabs = {
  environments: lazyRouteComponent(() => import('./tabs/environments-tab.tsx'), 'EnvironmentsTab'),
  access: lazyRouteComponent(() => import('./tabs/access-tab.tsx'), 'AccessTab'),
  tokens: lazyRouteComponent(() => import('./tabs/tokens-tab.tsx'), 'TokensTab'),
  applications: lazyRouteComponent(() => import('./tabs/applications-tab.tsx'), 'ApplicationsTab'),
  segments: lazyRouteComponent(() => import('./tabs/segments-tab.tsx'), 'SegmentsTab'),
  actions: lazyRouteComponent(() => import('./tabs/actions-tab.tsx'), 'ActionsTab'),
  archive: lazyRouteComponent(() => import('./tabs/archive-tab.tsx'), 'ArchiveTab'),
  settings: lazyRouteComponent(() => import('./tabs/settings-tab.tsx'), 'SettingsTab'),
} as const;

function isTab(tab: string): tab is keyof typeof tabs {
  return Object.hasOwn(tabs, tab);
}

/** Replaces the page of a project that is archived or not found, with a button to revive it. */
function UnavailableProject({ id, isArchived }: { readonly id: string; readonly isArchived: boolean }) {
  const mayCall = useMayCall();
  const [isReviving, setReviving] = useState(false);
  return (
    <>
      <EmptyState
        title={isArchived ? `The project “${id}” is archived` : `There is no project “${id}”`}
        action={mayCall(ReviveProject, { project: id }) && <Button onPress={() => setReviving(true)}>Revive it</Button>}
      >
        {isArchived
          ? 'It is listed under “Archived projects” only, and its settings cannot be changed. Revived, it is as it was; its flags stay archived.'
          : 'It may never have existed, be archived, or be private to others. An archived project can be revived.'}
      </EmptyState>
      {isReviving && <ReviveProjectDialog id={id} onClose={() => setReviving(false)} />}
    </>
  );
}

/** One project with its tabs; without a tab in the path, its overview. */
export function ProjectPage() {
  const { project: id = '', tab } = useParams({ strict: false }) as {
    readonly project?: string;
    readonly tab?: string;
  };
  const overview = useQuery({
    ...operationQuery(GetProjectOverview, { params: { projectId: id } }),
    placeholderData: keepPreviousData,
  });
  const hasPermission = usePermissionCheck();
  const isNotFound = overview.error instanceof ApiError && overview.error.kind === 'NotFoundError';
  const isArchived = overview.data?.archivedAt != null;
  const isKept = useKeptPage(isNotFound || isArchived, 'project');
  const isUnavailable = (isNotFound || isArchived) && !isKept;
  /** the overview of this project; its page leads to what comes first where it has no flags, with the buttons that are above it otherwise */
  const shown = overview.isPlaceholderData ? undefined : overview.data;
  // An overview without flags stays what it begins as, which what is cached from before the first flag must not decide.
  const isOutdated = shown !== undefined && flagCountOf(shown) === 0 && !overview.isFetchedAfterMount;
  const overviewKey = overview.isPlaceholderData ? 'previous' : isOutdated ? `${id} as cached` : id;
  const hasButtonsAbove = tab !== undefined || (shown !== undefined && flagCountOf(shown) > 0);
  const name = overview.data?.name ?? id;
  const knownTab = tab !== undefined && isTab(tab) ? tab : undefined;
  const isOffered = useOffersTab(id);
  // The rights in a project that is gone are gone, too.
  const Tab = knownTab !== undefined && (isKept || isOffered(knownTab)) ? tabs[knownTab] : undefined;
  const crumbs = [
    <Link key="all" to="/projects" activeOptions={{ exact: true }}>
      Projects
    </Link>,
    ...(knownTab === undefined
      ? []
      : [
          <Link key="one" to="/projects/$project" params={{ project: id }} activeOptions={{ exact: true }}>
            {name}
          </Link>,
        ]),
  ];
  return (
    <Page
      title={
        knownTab === undefined
          ? name
          : `${projectTabNames[knownTab]} ${knownTab === 'access' ? 'to' : 'of'} ${isolated(name)}`
      }
      crumbs={crumbs}
      actions={
        !isUnavailable &&
        (hasButtonsAbove || shown === undefined) && (
          <PlaceOfButton isHidden={!hasButtonsAbove}>
            <ConnectSdkButton project={id} />
            {tab === undefined && (isKept || hasPermission('CREATE_FEATURE', { project: id })) && (
              <CreateFlagButton project={id} />
            )}
          </PlaceOfButton>
        )
      }
      titleExtras={<ProjectModeBadge mode={overview.data?.mode} />}
    >
      {isUnavailable ? (
        <UnavailableProject id={id} isArchived={isArchived} />
      ) : (
        <>
          <ProjectTabs project={id} tab={tab} />
          {tab === undefined && (
            <QueryResult query={overview}>
              {(data) => (
                <Suspense fallback={<Loading />}>
                  <Overview key={overviewKey} id={id} overview={data} />
                </Suspense>
              )}
            </QueryResult>
          )}
          {tab !== undefined && knownTab === undefined && (
            <EmptyState title="There is no such page of a project">
              The links above lead to those that there are.
            </EmptyState>
          )}
          {knownTab !== undefined && Tab === undefined && <MissingTabPermission tab={knownTab} />}
          {Tab !== undefined && (
            <Suspense fallback={<Loading />}>
              <Tab key={id} project={id} />
            </Suspense>
          )}
        </>
      )}
    </Page>
  );
}
