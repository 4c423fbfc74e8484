import { type Asked, type Bus, callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import {
  CountMembers,
  CountTokens,
  FindEvents,
  GetPersonalDashboardProject,
  GetProject,
  GetProjectDora,
  GetProjectHealth,
  GetProjectInsights,
  GetProjectOverview,
  GetProjectStatus,
  GetUserRoles,
  imageUrlOf,
  ListFlagCreators,
  ValidateProjectId,
} from '@bunting/contracts';
import { mayReuseIds, projectIdTaken } from '../../domain/project.ts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { HeldProject } from '../../persistence/held-projects.ts';
import type { KnownElsewhere, ProjectOverviewReader } from '../../persistence/project-overview-reader.ts';
import { activityFor, activityIfKnown, noActivity } from './project-activity.ts';

type AskedForProject = Asked<
  | typeof GetPersonalDashboardProject
  | typeof GetProject
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

const heldProject = async (bus: Bus, asked: AskedForProject): Promise<readonly HeldProject[]> => {
  const body = { project: asked.params.projectId };
  return (await callIfSupported(bus, CountMembers, { body }, onBehalfOf(asked)))?.projects ?? [];
};

const knownElsewhere = async (bus: Bus, asked: AskedForProject): Promise<KnownElsewhere> => {
  const [held, active] = await Promise.all([
    heldProject(bus, asked),
    activityIfKnown(bus, asked, { project: asked.params.projectId }),
  ]);
  return { held, activity: active && (active[0] ?? noActivity) };
};

export const getProjectOverviewEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectOverview, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.overview(asked.params.projectId, asked.caller.id, known));
  });

export const getProjectEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProject, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.withFeatures(asked.params.projectId, asked.caller.id, known));
  });

export const getProjectHealthEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectHealth, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.withHealth(asked.params.projectId, asked.caller.id, known));
  });

export const getProjectInsightsEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectInsights, async (asked) => {
    const { projectId: project } = asked.params;
    const [held, [active = noActivity]] = await Promise.all([
      heldProject(bus, asked),
      activityFor(bus, asked, { project }),
    ]);
    return new JsonText(await projects.insights(project, held, active));
  });

export const getProjectDoraEndpoint = (projects: ProjectOverviewReader) =>
  implement(GetProjectDora, async ({ params }) => new JsonText(await projects.dora(params.projectId)));

export const getProjectStatusEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectStatus, async (asked) => {
    const { projectId: project } = asked.params;
    const [held, [active = noActivity], tokens] = await Promise.all([
      heldProject(bus, asked),
      activityFor(bus, asked, { project, days: 365 }),
      callIfSupported(bus, CountTokens, { body: { project } }, onBehalfOf(asked)),
    ]);
    const apiTokens = (tokens?.environments ?? []).reduce((sum, environment) => sum + environment.tokens, 0);
    return new JsonText(await projects.status(project, held, { days: active.days, apiTokens }));
  });

export const getPersonalDashboardProjectEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetPersonalDashboardProject, async (asked) => {
    const { projectId } = asked.params;
    const newest = { query: { project: `IS:${projectId}`, limit: '10' } };
    const [held, { events } = { events: [] }, { roles } = { roles: [] }] = await Promise.all([
      heldProject(bus, asked),
      callIfSupported(bus, FindEvents, newest, onBehalfOf(asked)),
      callIfSupported(bus, GetUserRoles, { query: { projectId } }, onBehalfOf(asked)),
    ]);
    const about = {
      latestEvents: events.map(({ id, summary = null, createdBy, createdAt }) => {
        return { id, summary, createdBy, createdByImageUrl: imageUrlOf(createdBy), createdAt };
      }),
      roles: roles.flatMap(({ id, name, type }) => {
        return type === 'project' || type === 'custom' ? [{ id, name, type: type as 'project' | 'custom' }] : [];
      }),
    };
    return new JsonText(await projects.forCaller(projectId, held, about));
  });

export const listFlagCreatorsEndpoint = (projects: ProjectOverviewReader) =>
  implement(ListFlagCreators, async ({ params }) => new JsonText(await projects.flagCreators(params.projectId)));

export const validateProjectIdEndpoint = (projects: ProjectOverviewReader) =>
  implement(ValidateProjectId, async ({ body, caller }) => {
    requireUrlFriendlyName(body.id, '/body/id');
    if (await projects.isTaken(body.id, mayReuseIds(caller))) throw projectIdTaken();
    return null;
  });
