import { implement } from '@bunting/bus';
import { GetProjectEnvironments } from '@bunting/contracts';
import type { ProjectReader } from '../../persistence/project-repository.ts';

export const getProjectEnvironmentsEndpoint = (projects: ProjectReader) =>
  implement(GetProjectEnvironments, async ({ params }) => ({
    environments: await projects.environmentsOf(params.projectId),
  }));
