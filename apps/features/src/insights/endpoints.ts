import { type Bus, type Endpoint, onBehalfOf, type OperationRequest, reads } from '@bunting/bus';
import {
  type AnyOperation,
  type Caller,
  CountEnvironmentTokens,
  CountProjectMembers,
  type GetDeprecatedProjectOverview,
  GetOwnRoles,
  GetPersonalDashboard,
  GetPersonalDashboardProject,
  GetProjectActivity,
  GetProjectDora,
  GetProjectHealth,
  GetProjectInsights,
  GetProjectOverview,
  GetProjectStatus,
  isAdministrator,
  ListPermissionHolders,
  maySee,
  type PersonalDashboard,
  Refusal,
  type ReplyOf,
  SearchEvents,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { call, callForJsonIfSupported, callIfSupported } from '../calls.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import type { ProjectMembers } from '../unit-of-work/sql.ts';
import type { ExternalProjectData } from './insights-store.ts';

export function insightEndpoints({ projectOverviews, bus, personalDashboards }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(GetPersonalDashboardProject, async (request) => {
      const { projectId } = request.params;
      const newestEvents = { query: { project: `IS:${projectId}`, limit: '10' } };
      const [members, { events } = { events: [] }, { roles } = { roles: [] }] = await Promise.all([
        loadProjectMembers(bus, request),
        callIfSupported(bus, SearchEvents, newestEvents, onBehalfOf(request)),
        callIfSupported(bus, GetOwnRoles, { query: { projectId } }, onBehalfOf(request)),
      ]);
      const eventsAndRoles = {
        latestEvents: events.map(({ id, summary = null, createdBy, createdAt }) => {
          return { id, summary, createdBy, createdByImageUrl: gravatarUrlOf(createdBy), createdAt };
        }),
        roles: roles.flatMap(({ id, name, type }) => {
          return type === 'project' || type === 'custom' ? [{ id, name, type: type as 'project' | 'custom' }] : [];
        }),
      };
      return await projectOverviews.forPersonalDashboard(projectId, members, eventsAndRoles);
    }),

    reads(GetPersonalDashboard, async (request) => {
      const { caller } = request;
      // Administrators alone hold ADMIN in a project that does not exist: the empty id names none.
      const holdersOfAdmin = { project: '', permissions: ['ADMIN' as const] };
      const [{ projects: members } = { projects: [] }, { users } = { users: [] }] = await Promise.all([
        callIfSupported(bus, CountProjectMembers, { body: {} }, onBehalfOf(request)),
        callIfSupported(bus, ListPermissionHolders, { body: holdersOfAdmin }, onBehalfOf(request)),
      ]);
      const admins = users.map(({ id, name, username, email, imageUrl }) => ({
        id,
        ...(name === null ? {} : { name }),
        ...(username === null ? {} : { username }),
        ...(email === null ? {} : { email }),
        ...(imageUrl === null ? {} : { imageUrl }),
      }));
      const scope = { id: caller.id, projects: ownProjects(caller), hidden: hiddenProjectsOf(caller) };
      return await personalDashboards.read(scope, members, { projectOwners: ownersOf(members, caller), admins });
    }),

    reads(GetProjectDora, ({ params }) => projectOverviews.dora(params.projectId)),

    reads(GetProjectHealth, async (request) => {
      const external = await loadExternalProjectData(bus, request);
      return await projectOverviews.withHealth(request.params.projectId, request.caller.id, external);
    }),

    reads(GetProjectInsights, async (request) => {
      const { projectId } = request.params;
      const [members, [active = activityWithoutEvents]] = await Promise.all([
        loadProjectMembers(bus, request),
        loadActivity(bus, request, { project: projectId }),
      ]);
      return await projectOverviews.insights(projectId, members, active);
    }),

    reads(GetProjectOverview, async (request) => {
      const external = await loadExternalProjectData(bus, request);
      return await projectOverviews.overview(request.params.projectId, request.caller.id, external);
    }),

    reads(GetProjectStatus, async (request) => {
      const { projectId } = request.params;
      const [members, [active = activityWithoutEvents], tokens] = await Promise.all([
        loadProjectMembers(bus, request),
        loadActivity(bus, request, { project: projectId, days: 365 }),
        callIfSupported(bus, CountEnvironmentTokens, { body: { project: projectId } }, onBehalfOf(request)),
      ]);
      const apiTokens = (tokens?.environments ?? []).reduce((sum, environment) => sum + environment.tokens, 0);
      return await projectOverviews.status(projectId, members, { days: active.days, apiTokens });
    }),
  ];
}

/** The projects in which the caller has a permission; null means all projects, for administrators. */
function ownProjects(caller: Caller): string[] | null {
  return isAdministrator(caller)
    ? null
    : [...new Set(caller.grants.flatMap(({ project }) => (project === undefined ? [] : [project])))];
}

/** The users who own projects that the caller sees, without duplicates, sorted by name. */
function ownersOf(members: readonly ProjectMembers[], caller: Caller): PersonalDashboard['projectOwners'] {
  const owners = members
    .filter(({ id }) => maySee(caller, id))
    .flatMap((project) => project.owners)
    .flatMap(({ ownerType, name = '', ...details }) =>
      ownerType === 'user' ? [{ ownerType: 'user' as const, name, ...details }] : [],
    );
  const unique = new Map(owners.map((owner) => [JSON.stringify([owner.name, owner.email]), owner]));
  return [...unique.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}

type ActiveProject = ReplyOf<typeof GetProjectActivity>['projects'][number];

/** The timeout of calls for optional data, in milliseconds. */
const optionalTimeoutMs = 2_000;

/** The activity of a project, or of all projects, from the event log. @throws Refusal if the audit service does not reply. */
async function loadActivity(
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string; readonly days?: number },
): Promise<readonly ActiveProject[]> {
  return (await call(bus, GetProjectActivity, { body }, onBehalfOf(request))).projects;
}

/**
 * The JSON text of the reply with the activity, or undefined if the audit service does not reply in time: pages about projects are shown without it.
 */
export async function loadActivityJsonIfAvailable(
  bus: Bus,
  request: OperationRequest<AnyOperation>,
  body: { readonly project?: string },
): Promise<string | undefined> {
  const context = onBehalfOf(request);
  try {
    const contextWithTimeout = { ...context, timeoutMs: Math.min(optionalTimeoutMs, context.timeoutMs / 2) };
    return await callForJsonIfSupported(bus, GetProjectActivity, { body }, contextWithTimeout);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'ServiceUnavailable') return undefined;
    throw error;
  }
}

const activityWithoutEvents: Pick<ActiveProject, 'currentWindow' | 'pastWindow' | 'days'> = {
  currentWindow: 0,
  pastWindow: 0,
  days: [],
};

type ProjectRequest = OperationRequest<
  | typeof GetPersonalDashboardProject
  | typeof GetDeprecatedProjectOverview
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

/** The members of a project, from the gateway; empty if the gateway is older and does not count them. */
async function loadProjectMembers(bus: Bus, request: ProjectRequest): Promise<readonly ProjectMembers[]> {
  const body = { project: request.params.projectId };
  return (await callIfSupported(bus, CountProjectMembers, { body }, onBehalfOf(request)))?.projects ?? [];
}

/** The members of a project, and its activity unless the audit service does not reply in time. */
export async function loadExternalProjectData(bus: Bus, request: ProjectRequest): Promise<ExternalProjectData> {
  const [members, activity] = await Promise.all([
    loadProjectMembers(bus, request),
    loadActivityJsonIfAvailable(bus, request, { project: request.params.projectId }),
  ]);
  const activeProjects =
    activity === undefined ? undefined : (JSON.parse(activity) as ReplyOf<typeof GetProjectActivity>).projects;
  return { members, activity: activeProjects && (activeProjects[0] ?? activityWithoutEvents) };
}
