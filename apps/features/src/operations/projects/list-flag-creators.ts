import { implement, JsonText } from '@bunting/bus';
import { ListFlagCreators } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listFlagCreatorsEndpoint = ({ projectOverviews }: FeaturesContext) =>
  implement(
    ListFlagCreators,
    async ({ params }) => new JsonText(await projectOverviews.flagCreators(params.projectId)),
  );
