import { implement, JsonText } from '@bunting/bus';
import { GetProjectDora } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getProjectDoraEndpoint = ({ projectOverviews }: FeaturesContext) =>
  implement(GetProjectDora, async ({ params }) => new JsonText(await projectOverviews.dora(params.projectId)));
