import { implement, JsonText } from '@bunting/bus';
import { ListFlagCreators } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listFlagCreatorsEndpoint = ({ projectOverviews: projects }: FeaturesContext) =>
  implement(ListFlagCreators, async ({ params }) => new JsonText(await projects.flagCreators(params.projectId)));
