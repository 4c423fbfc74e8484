import { implement, JsonText } from '@bunting/bus';
import { ListPossibleParents } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listPossibleParentsEndpoint = ({ dependencies }: FeaturesContext) =>
  implement(ListPossibleParents, async ({ params }) => new JsonText(await dependencies.possibleParents(params)));
