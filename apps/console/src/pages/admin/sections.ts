import { lazyRouteComponent } from '@tanstack/react-router';
import { administrationMessages as text } from '../../messages/administration/sections.ts';

type GroupId = keyof typeof text.groups;

const section = <Id extends keyof typeof text.sections>(
  id: Id,
  group: GroupId,
  component: ReturnType<typeof lazyRouteComponent>,
) => ({ id, group, label: text.sections[id][0], about: text.sections[id][1], component });

/**
 * The pages of administration, in the order of their navigation. A page has the address `/admin/<id>`, and `/admin/<id>/<item>` for one
 * of its things (`useParams({ strict: false }).item`). It is loaded when it is first opened.
 */
export const adminSections = [
  section(
    'environments',
    'places',
    lazyRouteComponent(() => import('./catalogues/environments-page.tsx'), 'EnvironmentsPage'),
  ),
  section(
    'segments',
    'vocabulary',
    lazyRouteComponent(() => import('./segments/segments-page.tsx'), 'SegmentsPage'),
  ),
  section(
    'context',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/context-page.tsx'), 'ContextPage'),
  ),
  section(
    'tags',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/tags-page.tsx'), 'TagsPage'),
  ),
  section(
    'strategies',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/strategy-types-page.tsx'), 'StrategyTypesPage'),
  ),
  section(
    'types',
    'vocabulary',
    lazyRouteComponent(() => import('./catalogues/flag-types-page.tsx'), 'FlagTypesPage'),
  ),
  section(
    'users',
    'people',
    lazyRouteComponent(() => import('./people/users-page.tsx'), 'UsersPage'),
  ),
  section(
    'groups',
    'people',
    lazyRouteComponent(() => import('./people/groups-page.tsx'), 'GroupsPage'),
  ),
  section(
    'roles',
    'people',
    lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  ),
  section(
    'access',
    'people',
    lazyRouteComponent(() => import('./roles/access-page.tsx'), 'AccessPage'),
  ),
  section(
    'service-accounts',
    'people',
    lazyRouteComponent(() => import('./people/service-accounts-page.tsx'), 'ServiceAccountsPage'),
  ),
  section(
    'api-tokens',
    'people',
    lazyRouteComponent(() => import('./sdks/api-tokens-page.tsx'), 'ApiTokensPage'),
  ),
  section(
    'sign-in',
    'people',
    lazyRouteComponent(() => import('./sign-in/sign-in-settings-page.tsx'), 'SignInSettingsPage'),
  ),
  section(
    'applications',
    'installation',
    lazyRouteComponent(() => import('./sdks/applications-page.tsx'), 'ApplicationsPage'),
  ),
  section(
    'transfer',
    'installation',
    lazyRouteComponent(() => import('./transfer/transfer-page.tsx'), 'TransferPage'),
  ),
  section(
    'instance',
    'installation',
    lazyRouteComponent(() => import('./instance-page.tsx'), 'InstancePage'),
  ),
] as const;

export const adminSectionGroups = Object.entries(text.groups)
  .map(([id, label]) => ({ id, label, sections: adminSections.filter(({ group }) => group === id) }))
  .filter(({ sections: pages }) => pages.length > 0);
