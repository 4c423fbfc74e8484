import { implement, JsonText } from '@bunting/bus';
import { ListParentVariants } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listParentVariantsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(ListParentVariants, async ({ params }) => new JsonText(await featureParts.variantNames(params)));
