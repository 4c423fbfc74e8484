import { type Endpoint, implement } from '@bunting/bus';
import { ListStateVersions } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listStateVersionsEndpoint = ({ states }: FeaturesContext): Endpoint =>
  implement(ListStateVersions, async ({ body: { entity, project, after, limit } }) => ({
    versions:
      entity === 'feature'
        ? await states.versionsOfFeatures(project, after, limit)
        : await states.versionsOfSegments(after, limit),
  }));
