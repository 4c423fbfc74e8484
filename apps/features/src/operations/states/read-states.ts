import { type Endpoint, implement } from '@bunting/bus';
import { ReadStates } from '@bunting/contracts';
import type { StateReader } from '../../persistence/state-reader.ts';

export const readStatesEndpoint = (states: StateReader): Endpoint =>
  implement(ReadStates, async ({ body: { entity, ids } }) => ({
    states: entity === 'feature' ? await states.features(ids) : await states.segments(ids),
  }));
