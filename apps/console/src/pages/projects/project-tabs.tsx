import type { Permission } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { memo, useEffect, useRef } from 'react';
import { usePermissionCheck } from '../../api/permissions.ts';
import { useMe, useProjects } from '../../api/queries-and-mutations.ts';
import { Notice } from '../../components/content/notice.tsx';
import { useProjectName } from '../../components/content/project-name.tsx';
import { useKeptPage } from '../../components/dialogs/unfinished-forms.tsx';
import { Page } from '../../components/layout/page.tsx';
import { missingPermission } from '../../text/permission-words.ts';
import { ProjectModeBadge } from './project-mode-badge.tsx';
import styles from './projects.module.css';
import { isolated } from '../../text/isolated.ts';

/** The tabs of a project in their order. Flags, change requests, cleanup and events are pages of their own, which have the bar as well. */
export const projectTabNames = {
  overview: 'Overview',
  flags: 'Flags',
  'change-requests': 'Change requests',
  cleanup: 'Cleanup',
  archive: 'Archive',
  environments: 'Environments',
  segments: 'Segments',
  applications: 'Applications',
  tokens: 'API tokens',
  actions: 'Actions',
  access: 'Access',
  events: 'Events',
  settings: 'Settings',
} as const;

/** What is of no use without one of these permissions in the project. */
const permissionsOfTabs: { readonly [tab in keyof typeof projectTabNames]?: readonly Permission[] } = {
  access: ['UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  tokens: ['READ_PROJECT_API_TOKEN'],
  actions: ['UPDATE_PROJECT', 'PROJECT_SETTINGS_READ'],
  settings: ['UPDATE_PROJECT', 'PROJECT_SETTINGS_WRITE', 'DELETE_PROJECT'],
};

type ProjectTab = keyof typeof projectTabNames;

/** What a user sees instead of a tab that is of no use to them. */
export function MissingTabPermission({ tab }: { readonly tab: ProjectTab }) {
  return <p>You may not see this page: that takes {missingPermission(permissionsOfTabs[tab] ?? [])}.</p>;
}

/** A function that tells whether the user has a use for a tab of a project; for each of them until the user's permissions are loaded. */
export function useOffersTab(project: string): (tab: ProjectTab) => boolean {
  const { data: me } = useMe();
  const hasPermission = usePermissionCheck();
  return (tab) =>
    me === undefined || (permissionsOfTabs[tab]?.some((permission) => hasPermission(permission, { project })) ?? true);
}

interface ProjectTabsProps {
  readonly project: string;
  readonly tab: string | undefined;
}

/** Whether a project is not among those that the user may see, as the server says now: the list in memory may be older than the project. */
function useIsUnknownProject(id: string | undefined): boolean {
  const { data, isFetching, isFetchedAfterMount, refetch } = useProjects();
  const isMissing = id !== undefined && data !== undefined && !data.projects.some((project) => project.id === id);
  useEffect(() => {
    if (isMissing && !isFetchedAfterMount) void refetch();
  }, [isMissing, isFetchedAfterMount, refetch]);
  return isMissing && isFetchedAfterMount && !isFetching;
}

/** Shows all of a tab that gets the focus by keyboard, where the browser leaves it partly hidden. A pointer finds it where it was. */
function showFocused({ currentTarget: tab }: React.FocusEvent<HTMLElement>): void {
  if (tab.matches(':focus-visible')) tab.scrollIntoView({ block: 'nearest', inline: 'center' });
}

/** The bar that leads to the parts of a project, on each of its pages. For a project that does not exist a notice says so instead. */
export const ProjectTabs = memo(({ project, tab: currentTab }: ProjectTabsProps) => {
  const bar = useRef<HTMLElement>(null);
  const isUnknown = useIsUnknownProject(project);
  const offersTab = useOffersTab(project);
  const tabs = (Object.entries(projectTabNames) as [ProjectTab, string][]).filter(([tab]) => offersTab(tab));
  useEffect(() => {
    bar.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [currentTab]);
  if (isUnknown)
    return (
      <Notice tone="warning" actions={<Link to="/projects">All projects</Link>}>
        There is no project “{project}” that you may see: it may be archived, be private to others, or never have
        existed.
      </Notice>
    );
  return (
    <nav ref={bar} aria-label="The project" className={styles['tabs']}>
      <ul>
        {tabs.map(([tab, name]) => (
          <li key={tab}>
            {tab === 'overview' ? (
              <Link to="/projects/$project" params={{ project }} activeOptions={{ exact: true }} onFocus={showFocused}>
                {name}
              </Link>
            ) : (
              <Link to="/projects/$project/$tab" params={{ project, tab }} onFocus={showFocused}>
                {name}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
});
ProjectTabs.displayName = 'ProjectTabs';

interface ListPageProps {
  readonly project: string | undefined;
  readonly tab: ProjectTab;
  /** without the name of the project */
  readonly title: string;
  readonly actions?: React.ReactNode;
  /** what scrolls: the list within the window, unless it is said to be the page */
  readonly scrolls?: 'list' | 'page';
  readonly children: React.ReactNode;
}

/** A page that lists something of all projects, or that of one project, as one of its tabs. */
export function ListPage({ project, tab, title, actions, scrolls = 'list', children }: ListPageProps) {
  const name = useProjectName(project);
  const { data: projects } = useProjects();
  const mode = projects?.projects.find(({ id }) => id === project)?.mode;
  const isGone = useIsUnknownProject(project);
  const isKept = useKeptPage(isGone, 'project');
  const isUnknown = isGone && !isKept;
  const crumbs =
    project === undefined
      ? []
      : [
          <Link key="all" to="/projects" activeOptions={{ exact: true }}>
            Projects
          </Link>,
          <Link key="one" to="/projects/$project" params={{ project }} activeOptions={{ exact: true }}>
            {name}
          </Link>,
        ];
  return (
    <Page
      title={name === undefined ? title : `${title} of ${isolated(name)}`}
      crumbs={crumbs}
      fillsWindow={scrolls === 'list'}
      actions={!isUnknown && actions}
      titleExtras={<ProjectModeBadge mode={mode} />}
    >
      {project !== undefined && <ProjectTabs project={project} tab={tab} />}
      {!isUnknown && children}
    </Page>
  );
}
