import { type Endpoint, implement } from '@bunting/bus';
import { ListStateVersions } from '@bunting/contracts';
import type { StateReader } from '../../persistence/state-reader.ts';

export const listStateVersionsEndpoint = (states: StateReader): Endpoint =>
  implement(ListStateVersions, async ({ body: { entity, project, after, limit } }) => ({
    versions:
      entity === 'feature'
        ? await states.versionsOfFeatures(project, after, limit)
        : await states.versionsOfSegments(after, limit),
  }));
