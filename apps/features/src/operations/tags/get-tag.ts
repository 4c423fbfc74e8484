import { implement, JsonText } from '@bunting/bus';
import { GetTag } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const getTagEndpoint = ({ tags }: FeaturesContext) =>
  implement(GetTag, async ({ params, caller }) => new JsonText(await tags.one(params, hiddenFrom(caller))));
