import { lazyRouteComponent } from '@tanstack/react-router';
import { adminNavigationMessages as text } from '../../messages/administration/navigation.ts';

type GroupId = keyof typeof text.groups;

const adminPage = <Id extends keyof typeof text.pages>(
  id: Id,
  group: GroupId,
  component: ReturnType<typeof lazyRouteComponent>,
) => ({ id, group, label: text.pages[id][0], description: text.pages[id][1], component });

/**
 * The pages of administration, in the order of their navigation. A page has the path `/admin/<id>`, and `/admin/<id>/<item>` for one
 * of its things (`useParams({ strict: false }).item`). It is loaded when it is first opened.
 */
export const adminPages = [
  adminPage(
    'environments',
    'places',
    lazyRouteComponent(() => import('./catalogues/environments-page.tsx'), 'EnvironmentsPage'),
  ),
  adminPage(
    'segments',
    'vocabulary',
    lazyRouteComponent(() => import('./segments/segments-page.tsx'), 'SegmentsPage'),
  ),
  adminPage(
    'context',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/context-fields-page.tsx'), 'ContextFieldsPage'),
  ),
  adminPage(
    'tags',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/tags-page.tsx'), 'TagsPage'),
  ),
  adminPage(
    'strategies',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/strategy-types-page.tsx'), 'StrategyTypesPage'),
  ),
  adminPage(
    'types',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/flag-types-page.tsx'), 'FlagTypesPage'),
  ),
  adminPage(
    'users',
    'people',
    lazyRouteComponent(() => import('./people/users-page.tsx'), 'UsersPage'),
  ),
  adminPage(
    'groups',
    'people',
    lazyRouteComponent(() => import('./people/groups-page.tsx'), 'GroupsPage'),
  ),
  adminPage(
    'roles',
    'people',
    lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  ),
  adminPage(
    'access',
    'people',
    lazyRouteComponent(() => import('./roles/permission-holders-page.tsx'), 'PermissionHoldersPage'),
  ),
  adminPage(
    'service-accounts',
    'people',
    lazyRouteComponent(() => import('./people/service-accounts-page.tsx'), 'ServiceAccountsPage'),
  ),
  adminPage(
    'api-tokens',
    'people',
    lazyRouteComponent(() => import('./sdks/api-tokens-page.tsx'), 'ApiTokensPage'),
  ),
  adminPage(
    'sign-in',
    'people',
    lazyRouteComponent(() => import('./sign-in-settings/sign-in-settings-page.tsx'), 'SignInSettingsPage'),
  ),
  adminPage(
    'applications',
    'installation',
    lazyRouteComponent(() => import('./sdks/applications-page.tsx'), 'ApplicationsPage'),
  ),
  adminPage(
    'transfer',
    'installation',
    lazyRouteComponent(() => import('./transfer/transfer-page.tsx'), 'TransferPage'),
  ),
  adminPage(
    'instance',
    'installation',
    lazyRouteComponent(() => import('./instance-page.tsx'), 'InstancePage'),
  ),
] as const;

export const adminPageGroups = Object.entries(text.groups)
  .map(([id, label]) => ({ id, label, pages: adminPages.filter(({ group }) => group === id) }))
  .filter(({ pages }) => pages.length > 0);
