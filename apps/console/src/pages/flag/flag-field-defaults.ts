import type { UpdateFeatureBody } from '@bunting/contracts';
import type { Json } from '../../merging/json.ts';

/** The values that a new flag has in the fields of `UpdateFeature`. A field of the contract that is missing here does not compile. */
export const flagFieldDefaults = {
  description: null,
  type: 'release',
  stale: false,
  impressionData: false,
} as const satisfies Readonly<Record<Exclude<keyof UpdateFeatureBody, 'name' | 'archived'>, Json>>;
