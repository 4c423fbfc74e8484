import { type Endpoint, implement } from '@bunting/bus';
import { ReadStates } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const readStatesEndpoint = ({ states }: FeaturesContext): Endpoint =>
  implement(ReadStates, async ({ body: { entity, ids } }) => ({
    states: entity === 'feature' ? await states.features(ids) : await states.segments(ids),
  }));
