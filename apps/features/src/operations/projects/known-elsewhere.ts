import { type Asked, type Bus, callIfSupported, onBehalfOf } from '@bunting/bus';
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

export type AskedForProject = Asked<
  | typeof GetPersonalDashboardProject
  | typeof GetProject
  | typeof GetProjectHealth
  | typeof GetProjectInsights
  | typeof GetProjectOverview
  | typeof GetProjectStatus
>;

export const heldProject = async (bus: Bus, asked: AskedForProject): Promise<readonly HeldProject[]> => {
  const body = { project: asked.params.projectId };
  return (await callIfSupported(bus, CountMembers, { body }, onBehalfOf(asked)))?.projects ?? [];
};

export const knownElsewhere = async (bus: Bus, asked: AskedForProject): Promise<KnownElsewhere> => {
  const [held, active] = await Promise.all([
    heldProject(bus, asked),
    activityIfKnown(bus, asked, { project: asked.params.projectId }),
  ]);
  return { held, activity: active && (active[0] ?? noActivity) };
};
