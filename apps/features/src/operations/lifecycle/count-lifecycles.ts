import { implement, JsonText } from '@bunting/bus';
import { CountLifecycles } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const countLifecyclesEndpoint = (parts: FeaturePartsReader) =>
  implement(CountLifecycles, async ({ caller }) => new JsonText(await parts.lifecycleCounts(hiddenFrom(caller))));
