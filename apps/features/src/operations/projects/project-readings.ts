import { type Asked, type Bus, call, implement, JsonText, onBehalfOf } from '@bunting/bus';
import {
  CountMembers,
  GetProject,
  GetProjectHealth,
  GetProjectOverview,
  ListFlagCreators,
  refusal,
  ValidateProjectId,
} from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { HeldProject } from '../../persistence/held-projects.ts';
import type { ProjectOverviewReader } from '../../persistence/project-overview-reader.ts';

type AskedForProject = Asked<typeof GetProject | typeof GetProjectHealth | typeof GetProjectOverview>;

const heldProject = async (bus: Bus, asked: AskedForProject): Promise<readonly HeldProject[]> => {
  const body = { project: asked.params.projectId };
  return (await call(bus, CountMembers, { body }, onBehalfOf(asked))).projects;
};

export const getProjectOverviewEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectOverview, async (asked) => {
    const held = await heldProject(bus, asked);
    return new JsonText(await projects.overview(asked.params.projectId, asked.caller.id, held));
  });

export const getProjectEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProject, async (asked) => {
    const held = await heldProject(bus, asked);
    return new JsonText(await projects.withFeatures(asked.params.projectId, asked.caller.id, held));
  });

export const getProjectHealthEndpoint = (projects: ProjectOverviewReader, bus: Bus) =>
  implement(GetProjectHealth, async (asked) => {
    const held = await heldProject(bus, asked);
    return new JsonText(await projects.withHealth(asked.params.projectId, asked.caller.id, held));
  });

export const listFlagCreatorsEndpoint = (projects: ProjectOverviewReader) =>
  implement(ListFlagCreators, async ({ params }) => new JsonText(await projects.flagCreators(params.projectId)));

export const validateProjectIdEndpoint = (projects: ProjectOverviewReader) =>
  implement(ValidateProjectId, async ({ body }) => {
    requireUrlFriendlyName(body.id, '/body/id');
    if (await projects.isTaken(body.id)) {
      throw refusal('NameExistsError', 'A project with this id already exists.');
    }
    return null;
  });
