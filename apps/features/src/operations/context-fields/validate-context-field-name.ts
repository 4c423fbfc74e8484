import { implement } from '@bunting/bus';
import { ValidateContextFieldName } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import { contextFieldNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const validateContextFieldNameEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(ValidateContextFieldName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if ((await contextFields.find(body.name)) !== undefined) {
      throw contextFieldNameTaken();
    }
    return null;
  });
