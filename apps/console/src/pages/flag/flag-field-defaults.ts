import type { UpdateFeatureBody } from '@bunting/contracts';
import type { Json } from '../../merging/json.ts';

/** The fields that an update of a flag changes, with their values in a new flag. The type requires each that the contract has. */
export const detailDefaults = {
  description: null,
  type: 'release',
  stale: false,
  impressionData: false,
} as const satisfies Readonly<Record<Exclude<keyof UpdateFeatureBody, 'name' | 'archived'>, Json>>;
