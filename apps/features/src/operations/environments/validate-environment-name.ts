import { implement } from '@bunting/bus';
import { ValidateEnvironmentName } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import { environmentNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const validateEnvironmentNameEndpoint = ({ environments }: FeaturesContext) =>
  implement(ValidateEnvironmentName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if (await environments.isTaken(body.name)) {
      throw environmentNameTaken(body.name);
    }
    return null;
  });
