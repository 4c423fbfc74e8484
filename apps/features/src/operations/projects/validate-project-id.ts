import { implement } from '@bunting/bus';
import { ValidateProjectId } from '@bunting/contracts';
import { mayReuseIds, projectIdTaken } from '../../domain/projects/project.ts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { FeaturesContext } from '../context.ts';

export const validateProjectIdEndpoint = ({ projects }: FeaturesContext) =>
  implement(ValidateProjectId, async ({ body, caller }) => {
    requireUrlFriendlyName(body.id, '/body/id');
    if (await projects.isIdTaken(body.id, mayReuseIds(caller))) throw projectIdTaken();
    return null;
  });
