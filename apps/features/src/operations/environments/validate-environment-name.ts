import { implement } from '@bunting/bus';
import { refusal, ValidateEnvironmentName } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { FeaturesContext } from '../context.ts';

export const validateEnvironmentNameEndpoint = ({ environments }: FeaturesContext) =>
  implement(ValidateEnvironmentName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if (await environments.isTaken(body.name)) {
      throw refusal('NameExistsError', `An environment with the name ${body.name} already exists`);
    }
    return null;
  });
