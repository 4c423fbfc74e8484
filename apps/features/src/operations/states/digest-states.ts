import { type Endpoint, implement } from '@bunting/bus';
import { DigestStates } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const digestStatesEndpoint = ({ states }: FeaturesContext): Endpoint =>
  implement(DigestStates, async ({ body: { entity, after, limit } }) =>
    entity === 'feature' ? states.digestFeatures(after, limit) : { groups: await states.digestSegments(), next: null },
  );
