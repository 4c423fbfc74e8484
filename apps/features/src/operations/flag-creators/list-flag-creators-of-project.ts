import { implement, JsonText } from '@bunting/bus';
import { ListFlagCreatorsOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listFlagCreatorsOfProjectEndpoint = ({ flagCreators }: FeaturesContext) =>
  implement(
    ListFlagCreatorsOfProject,
    async ({ params }) => new JsonText(await flagCreators.ofProject(params.projectId)),
  );
