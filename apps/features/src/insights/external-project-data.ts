import { type OperationRequest, type Bus, onBehalfOf } from '@bunting/bus';
import {
  CountProjectMembers,
  type GetPersonalDashboardProject,
  type GetDeprecatedProjectOverview,
  type GetProjectHealth,
  type GetProjectInsights,
  type GetProjectOverview,
  type GetProjectStatus,
} from '@bunting/contracts';
import { callIfSupported } from '../calls.ts';
import type { ProjectMembers } from '../unit-of-work/project-members-sql.ts';
import type { ExternalProjectData } from './project-overview-reader.ts';
import { loadActivityIfAvailable, activityWithoutEvents } from './project-activity.ts';

type ProjectRequest = OperationRequest<
  | typeof GetPersonalDashboardProject
  | typeof GetDeprecatedProjectOverview
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

/** The members of a project, from the gateway; empty if the gateway is older and does not count them. */
export const loadProjectMembers = async (bus: Bus, request: ProjectRequest): Promise<readonly ProjectMembers[]> => {
  const body = { project: request.params.projectId };
  return (await callIfSupported(bus, CountProjectMembers, { body }, onBehalfOf(request)))?.projects ?? [];
};

/** The members of a project, and its activity unless the audit service does not reply in time. */
export const loadExternalProjectData = async (bus: Bus, request: ProjectRequest): Promise<ExternalProjectData> => {
  const [members, activeProjects] = await Promise.all([
    loadProjectMembers(bus, request),
    loadActivityIfAvailable(bus, request, { project: request.params.projectId }),
  ]);
  return { members, activity: activeProjects && (activeProjects[0] ?? activityWithoutEvents) };
};
