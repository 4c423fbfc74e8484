import { implement, JsonText } from '@bunting/bus';
import { ListFeatureTypes } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listFeatureTypesEndpoint = ({ featureTypes }: FeaturesContext) =>
  implement(ListFeatureTypes, async () => new JsonText(await featureTypes.all()));
