import { implement, JsonText } from '@bunting/bus';
import { GetProject, GetProjectOverview, ListFlagCreators, refusal, ValidateProjectId } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { ProjectOverviewReader } from '../../persistence/project-overview-reader.ts';

export const getProjectOverviewEndpoint = (projects: ProjectOverviewReader) =>
  implement(
    GetProjectOverview,
    async ({ params, caller }) => new JsonText(await projects.overview(params.projectId, caller.id)),
  );

export const getProjectEndpoint = (projects: ProjectOverviewReader) =>
  implement(
    GetProject,
    async ({ params, caller }) => new JsonText(await projects.withFeatures(params.projectId, caller.id)),
  );

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
