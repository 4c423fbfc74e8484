import { implement, JsonText } from '@bunting/bus';
import { ListFeatureTypes } from '@bunting/contracts';
import type { FeatureTypeReader } from '../../persistence/feature-types.ts';

export const listFeatureTypesEndpoint = (types: FeatureTypeReader) =>
  implement(ListFeatureTypes, async () => new JsonText(await types.all()));
