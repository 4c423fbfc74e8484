import { implement, JsonText } from '@bunting/bus';
import { ListTagTypes } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listTagTypesEndpoint = ({ tags }: FeaturesContext) =>
  implement(ListTagTypes, async () => new JsonText(await tags.types()));
