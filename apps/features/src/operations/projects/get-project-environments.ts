import { implement } from '@bunting/bus';
import { GetProjectEnvironments } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getProjectEnvironmentsEndpoint = ({ projects }: FeaturesContext) =>
  implement(GetProjectEnvironments, async ({ params }) => ({
    environments: await projects.environmentsOf(params.projectId),
  }));
