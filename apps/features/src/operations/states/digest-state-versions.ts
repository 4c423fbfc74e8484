import { type Endpoint, implement } from '@bunting/bus';
import { DigestStateVersions } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const digestStateVersionsEndpoint = ({ states }: FeaturesContext): Endpoint =>
  implement(DigestStateVersions, async ({ body: { entity, after, limit } }) =>
    entity === 'feature' ? states.digestFeatures(after, limit) : { groups: await states.digestSegments(), next: null },
  );
