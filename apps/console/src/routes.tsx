import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  useLocation,
} from '@tanstack/react-router';
import { basePath } from './base-path.ts';
import { Loading } from './components/content/query-result.tsx';
import { NotFoundPage, ErrorPage } from './shell/error-pages.tsx';
import { Shell } from './shell/shell.tsx';
import { pathsForVisitors } from './shell/visitor-paths.ts';

// One route per page. It names the search parameters that links to the page may have. A page is loaded when it is first opened.

/** Declares the search parameters of a route: all are optional text. Parameters that are not declared stay in the URL. */
function searchParameters<Name extends string>() {
  return (search: Record<string, unknown>): { readonly [name in Name]?: string | undefined } =>
    search as { readonly [name in Name]?: string };
}

const flagListSearch = searchParameters<'q' | 'sort'>();
const eventListSearch = searchParameters<'q'>();
const changeRequestListSearch = searchParameters<'view' | 'from'>();
const cleanupListSearch = searchParameters<'q' | 'reason' | 'days' | 'app' | 'environment'>();
const projectTabsSearch = searchParameters<'q' | 'default'>();
const adminSectionsSearch = searchParameters<
  | 'q'
  | 'sort'
  | 'sdks'
  | 'view'
  | 'kind'
  | 'type'
  | 'project'
  | 'environment'
  | 'permission'
  | 'instance'
  | 'flag'
  | 'letter'
  | 'invitation'
>();

function Frame() {
  return pathsForVisitors.has(useLocation().pathname) ? <Outlet /> : <Shell />;
}

const root = createRootRoute({ component: Frame, notFoundComponent: NotFoundPage });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
});

const flags = createRoute({
  getParentRoute: () => root,
  path: '/flags',
  validateSearch: flagListSearch,
  component: lazyRouteComponent(() => import('./pages/flags/flags-page.tsx'), 'FlagsPage'),
});

const projectFlags = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/flags',
  validateSearch: flagListSearch,
  component: lazyRouteComponent(() => import('./pages/flags/flags-page.tsx'), 'ProjectFlagsPage'),
});

const flag = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/features/$feature',
  component: lazyRouteComponent(() => import('./pages/flag/flag-page.tsx'), 'FlagPage'),
});

const strategy = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/features/$feature/environments/$environment/strategies/$strategy',
  // What is edited, and what others have saved meanwhile, is of one strategy.
  remountDeps: ({ params }) => params,
  component: lazyRouteComponent(() => import('./pages/strategy/strategy-page.tsx'), 'StrategyPage'),
});

const changeRequests = createRoute({
  getParentRoute: () => root,
  path: '/change-requests',
  validateSearch: changeRequestListSearch,
  component: lazyRouteComponent(() => import('./pages/change-requests/change-requests-page.tsx'), 'ChangeRequestsPage'),
});

const projectChangeRequests = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/change-requests',
  validateSearch: changeRequestListSearch,
  component: lazyRouteComponent(
    () => import('./pages/change-requests/change-requests-page.tsx'),
    'ProjectChangeRequestsPage',
  ),
});

const changeRequest = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/change-requests/$id',
  component: lazyRouteComponent(() => import('./pages/change-requests/change-request-page.tsx'), 'ChangeRequestPage'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: eventListSearch,
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
});

const projectEvents = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/events',
  validateSearch: eventListSearch,
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'ProjectEventsPage'),
});

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  validateSearch: searchParameters<'q' | 'show' | 'sort' | 'only'>(),
  component: lazyRouteComponent(() => import('./pages/projects/projects-page.tsx'), 'ProjectsPage'),
});

const projectPage = lazyRouteComponent(() => import('./pages/projects/project-page.tsx'), 'ProjectPage');
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project',
  validateSearch: projectTabsSearch,
  component: projectPage,
});
const projectTab = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/$tab',
  validateSearch: projectTabsSearch,
  component: projectPage,
});

const adminLayout = lazyRouteComponent(() => import('./pages/admin/admin-layout.tsx'), 'AdminLayout');
// The three routes share one component, which finds the content in the table `adminPages` that is loaded with it.
const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  validateSearch: adminSectionsSearch,
  component: adminLayout,
});
const adminSection = createRoute({
  getParentRoute: () => root,
  path: '/admin/$section',
  validateSearch: adminSectionsSearch,
  component: adminLayout,
});
const adminItem = createRoute({
  getParentRoute: () => root,
  path: '/admin/$section/$item',
  validateSearch: adminSectionsSearch,
  component: adminLayout,
});

const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: searchParameters<
    'q' | 'contexts' | 'environments' | 'projects' | 'flag' | 'changeRequest' | 'concerned'
  >(),
  component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});

const cleanup = createRoute({
  getParentRoute: () => root,
  path: '/cleanup',
  validateSearch: cleanupListSearch,
  component: lazyRouteComponent(() => import('./pages/cleanup/cleanup-page.tsx'), 'CleanupPage'),
});

const projectCleanup = createRoute({
  getParentRoute: () => root,
  path: '/projects/$project/cleanup',
  validateSearch: cleanupListSearch,
  component: lazyRouteComponent(() => import('./pages/cleanup/cleanup-page.tsx'), 'ProjectCleanupPage'),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  validateSearch: searchParameters<'kind' | 'unread'>(),
  component: lazyRouteComponent(() => import('./pages/inbox/inbox-page.tsx'), 'InboxPage'),
});

const profile = createRoute({
  getParentRoute: () => root,
  path: '/profile',
  component: lazyRouteComponent(() => import('./pages/profile/profile-page.tsx'), 'ProfilePage'),
});

const linkSlack = createRoute({
  getParentRoute: () => root,
  path: '/link-slack',
  validateSearch: searchParameters<'token'>(),
  component: lazyRouteComponent(() => import('./pages/profile/link-slack-page.tsx'), 'LinkSlackPage'),
});

function signedOutPages() {
  return import('./pages/sign-in/signed-out-pages.tsx');
}

const signedOutRoutes = (
  [
    ['/first', 'FirstAdminPage'],
    ['/new-user', 'AcceptInvitationPage'],
    ['/reset-password', 'ResetPasswordPage'],
    ['/forgotten-password', 'ForgottenPasswordPage'],
    ['/unsubscribe', 'UnsubscribePage'],
  ] as const
).map(([path, name]) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: searchParameters<'token' | 'invite'>(),
    component: lazyRouteComponent(signedOutPages, name),
  }),
);

/** Search parameters are text: `stale=true` stays a string. */
function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}
function stringifySearch(search: Record<string, unknown>): string {
  const parameters = Object.entries(search).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`;
}

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    flags,
    projectFlags,
    flag,
    strategy,
    changeRequests,
    projectChangeRequests,
    changeRequest,
    playground,
    events,
    projectEvents,
    cleanup,
    projectCleanup,
    projects,
    project,
    projectTab,
    admin,
    adminSection,
    adminItem,
    inbox,
    profile,
    linkSlack,
    ...signedOutRoutes,
  ]),
  basepath: basePath === '' ? '/' : basePath,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorPage,
  defaultPendingComponent: Loading,
  scrollRestoration: true,
  scrollToTopSelectors: ['#main'],
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
