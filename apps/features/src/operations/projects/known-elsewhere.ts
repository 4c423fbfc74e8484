import { type OperationRequest, type Bus, callIfSupported, onBehalfOf } from '@bunting/bus';
import {
  CountMembers,
  type GetPersonalDashboardProject,
  type GetProject,
  type GetProjectHealth,
  type GetProjectInsights,
  type GetProjectOverview,
  type GetProjectStatus,
} from '@bunting/contracts';
import type { HeldProject } from '../../persistence/held-projects.ts';
import type { KnownElsewhere } from '../../persistence/project-overview-reader.ts';
import { activityIfKnown, noActivity } from './project-activity.ts';

export type AskedForProject = OperationRequest<
  | typeof GetPersonalDashboardProject
  | typeof GetProject
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

export const heldProject = async (bus: Bus, request: AskedForProject): Promise<readonly HeldProject[]> => {
  const body = { project: request.params.projectId };
  return (await callIfSupported(bus, CountMembers, { body }, onBehalfOf(request)))?.projects ?? [];
};

export const knownElsewhere = async (bus: Bus, request: AskedForProject): Promise<KnownElsewhere> => {
  const [held, active] = await Promise.all([
    heldProject(bus, request),
    activityIfKnown(bus, request, { project: request.params.projectId }),
  ]);
  return { held, activity: active && (active[0] ?? noActivity) };
};
