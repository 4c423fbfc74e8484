import { implement, JsonText } from '@bunting/bus';
import { HasDependencies } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const hasDependenciesEndpoint = (parts: FeaturePartsReader) =>
  implement(HasDependencies, async () => new JsonText(await parts.anyDependencies()));
