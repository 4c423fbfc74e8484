import { implement } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listEnvironmentSettingsOfProjectEndpoint = ({ projects }: FeaturesContext) =>
  implement(ListEnvironmentSettingsOfProject, async ({ params }) => ({
    environments: await projects.environmentsOf(params.projectId),
  }));
