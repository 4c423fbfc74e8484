import { implement, JsonText } from '@bunting/bus';
import { ListParentVariants } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listParentVariantsEndpoint = ({ dependencies }: FeaturesContext) =>
  implement(ListParentVariants, async ({ params }) => new JsonText(await dependencies.parentVariants(params)));
