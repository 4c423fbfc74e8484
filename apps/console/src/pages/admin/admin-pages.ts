import type { Permission } from '@bunting/contracts';
import { lazyRouteComponent } from '@tanstack/react-router';

const texts = {
  pages: {
    environments: ['Environments', 'Where flags are on or off: order, types, approvals, clones'],
    segments: ['Segments', 'Named sets of constraints, and the flags that use them'],
    context: ['Context fields', 'What constraints compare: legal values, stickiness, use'],
    tags: ['Tags', 'Types of tags, and the tags of each'],
    strategies: ['Strategy types', 'The built-in ones, and those that your SDKs evaluate'],
    types: ['Flag types', 'How long flags of each type are expected to live'],
    users: ['Users', 'Create, invite, deactivate; passwords, sessions and root roles'],
    groups: ['Groups', 'People who have their roles together, here or at an identity provider'],
    roles: ['Roles', 'What each role gives, as a matrix'],
    access: ['Who may do what', 'Everyone who may do something, and through which role'],
    'service-accounts': ['Service accounts', 'Accounts of machines, and their tokens'],
    'api-tokens': ['API tokens', 'Keys of SDKs and scripts'],
    'sign-in': ['Signing in', 'Single sign-on, passwords, and provisioning by SCIM'],
    applications: ['Applications', 'SDKs and their versions, instances, and the flags that they use'],
    integrations: ['Integrations', 'Webhooks and channels that are told of events'],
    signals: ['Signals', 'Where other systems, such as Alertmanager and Grafana, tell what has happened'],
    transfer: ['Import and export', 'Bring flags from Unleash, or take them elsewhere'],
    instance: ['This installation', 'Version, health, statistics, limits, and the state of the event log'],
  },
  groups: {
    flags: 'Flags',
    people: 'Access',
    installation: 'Installation',
  },
} as const;

type GroupId = keyof typeof texts.groups;

function adminPage<Id extends keyof typeof texts.pages>(
  id: Id,
  group: GroupId,
  component: ReturnType<typeof lazyRouteComponent>,
  readers: readonly Permission[] = [],
) {
  return { id, group, label: texts.pages[id][0], description: texts.pages[id][1], component, readers };
}

/**
 * The pages of administration, in the order of their navigation. A page has the path `/admin/<id>`, and `/admin/<id>/<item>` for one
 * of its things (`useParams({ strict: false }).item`). It is loaded when it is first opened. `readers` are the permissions
 * of which it takes one to read what the page is about; none where everybody may. They are those of its operation, which all pages of
 * administration would load otherwise.
 */
export const adminPages = [
  adminPage(
    'environments',
    'flags',
    lazyRouteComponent(() => import('./catalogues/environments-page.tsx'), 'EnvironmentsPage'),
  ),
  adminPage(
    'segments',
    'flags',
    lazyRouteComponent(() => import('./segments/segments-page.tsx'), 'SegmentsPage'),
  ),
  adminPage(
    'context',
    'flags',
    lazyRouteComponent(() => import('./catalogues/context-fields-page.tsx'), 'ContextFieldsPage'),
  ),
  adminPage(
    'tags',
    'flags',
    lazyRouteComponent(() => import('./catalogues/tags-page.tsx'), 'TagsPage'),
  ),
  adminPage(
    'strategies',
    'flags',
    lazyRouteComponent(() => import('./catalogues/strategy-types-page.tsx'), 'StrategyTypesPage'),
  ),
  adminPage(
    'types',
    'flags',
    lazyRouteComponent(() => import('./catalogues/flag-types-page.tsx'), 'FlagTypesPage'),
  ),
  adminPage(
    'users',
    'people',
    lazyRouteComponent(() => import('./people/users-page.tsx'), 'UsersPage'),
    ['ADMIN'],
  ),
  adminPage(
    'groups',
    'people',
    lazyRouteComponent(() => import('./people/groups-page.tsx'), 'GroupsPage'),
    ['ADMIN'],
  ),
  adminPage(
    'roles',
    'people',
    lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
    ['READ_ROLE', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  ),
  adminPage(
    'access',
    'people',
    lazyRouteComponent(() => import('./roles/permission-holders-page.tsx'), 'PermissionHoldersPage'),
    ['ADMIN', 'UPDATE_PROJECT', 'PROJECT_USER_ACCESS_READ', 'PROJECT_USER_ACCESS_WRITE'],
  ),
  adminPage(
    'service-accounts',
    'people',
    lazyRouteComponent(() => import('./people/service-accounts-page.tsx'), 'ServiceAccountsPage'),
    ['ADMIN'],
  ),
  adminPage(
    'api-tokens',
    'people',
    lazyRouteComponent(() => import('./sdks/api-tokens-page.tsx'), 'ApiTokensPage'),
    ['ADMIN', 'READ_CLIENT_API_TOKEN', 'READ_FRONTEND_API_TOKEN'],
  ),
  adminPage(
    'sign-in',
    'people',
    lazyRouteComponent(() => import('./sign-in-settings/sign-in-settings-page.tsx'), 'SignInSettingsPage'),
    ['ADMIN'],
  ),
  adminPage(
    'applications',
    'installation',
    lazyRouteComponent(() => import('./sdks/applications-page.tsx'), 'ApplicationsPage'),
  ),
  adminPage(
    'integrations',
    'installation',
    lazyRouteComponent(() => import('./integrations/integrations-page.tsx'), 'IntegrationsPage'),
  ),
  adminPage(
    'signals',
    'installation',
    lazyRouteComponent(() => import('./signals/signals-page.tsx'), 'SignalsPage'),
    ['ADMIN'],
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

export const adminPageGroups = Object.entries(texts.groups)
  .map(([id, label]) => ({ id, label, pages: adminPages.filter(({ group }) => group === id) }))
  .filter(({ pages }) => pages.length > 0);
