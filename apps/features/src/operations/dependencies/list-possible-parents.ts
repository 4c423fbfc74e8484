import { implement, JsonText } from '@bunting/bus';
import { ListPossibleParents } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listPossibleParentsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(ListPossibleParents, async ({ params }) => new JsonText(await featureParts.possibleParents(params)));
