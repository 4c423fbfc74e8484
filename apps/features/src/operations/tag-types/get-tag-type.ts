import { implement, JsonText } from '@bunting/bus';
import { GetTagType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getTagTypeEndpoint = ({ tags }: FeaturesContext) =>
  implement(GetTagType, async ({ params }) => new JsonText(await tags.type(params.name)));
