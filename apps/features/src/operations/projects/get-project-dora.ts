import { implement, JsonText } from '@bunting/bus';
import { GetProjectDora } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getProjectDoraEndpoint = ({ projectOverviews: projects }: FeaturesContext) =>
  implement(GetProjectDora, async ({ params }) => new JsonText(await projects.dora(params.projectId)));
