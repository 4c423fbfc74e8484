import { type OperationRequest, type Bus, callIfSupported, onBehalfOf } from '@bunting/bus';
import {
  CountProjectMembers,
  type GetPersonalDashboardProject,
  type GetDeprecatedProjectOverview,
  type GetProjectHealth,
  type GetProjectInsights,
  type GetProjectOverview,
  type GetProjectStatus,
} from '@bunting/contracts';
import type { ProjectMembers } from '../../persistence/projects/project-members-sql.ts';
import type { ExternalProjectData } from '../../persistence/projects/project-overview-reader.ts';
import { loadActivityIfAvailable, noActivity } from './project-activity.ts';

type ProjectRequest = OperationRequest<
  | typeof GetPersonalDashboardProject
  | typeof GetDeprecatedProjectOverview
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

export const loadProjectMembers = async (bus: Bus, request: ProjectRequest): Promise<readonly ProjectMembers[]> => {
  const body = { project: request.params.projectId };
  return (await callIfSupported(bus, CountProjectMembers, { body }, onBehalfOf(request)))?.projects ?? [];
};

export const loadExternalProjectData = async (bus: Bus, request: ProjectRequest): Promise<ExternalProjectData> => {
  const [members, active] = await Promise.all([
    loadProjectMembers(bus, request),
    loadActivityIfAvailable(bus, request, { project: request.params.projectId }),
  ]);
  return { members, activity: active && (active[0] ?? noActivity) };
};
