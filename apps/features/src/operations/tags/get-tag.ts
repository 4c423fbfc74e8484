import { implement, JsonText } from '@bunting/bus';
import { GetTag } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getTagEndpoint = ({ tags }: FeaturesContext) =>
  implement(GetTag, async ({ params, caller }) => new JsonText(await tags.one(params, hiddenProjectsOf(caller))));
