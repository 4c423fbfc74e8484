import { type Endpoint, implement } from '@bunting/bus';
import { ListStateVersions, ReadStates } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export function stateEndpoints({ states }: FeaturesContext): readonly Endpoint[] {
  return [
    implement(ListStateVersions, async ({ body: { entity, after, limit } }) => ({
      versions: await states.versions(entity, after, limit),
    })),

    implement(ReadStates, async ({ body: { entity, after, limit } }) => ({
      states: entity === 'feature' ? await states.features(after, limit) : await states.segments(after, limit),
    })),
  ];
}
