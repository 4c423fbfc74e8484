import { implement } from '@bunting/bus';
import { refusal, ValidateContextFieldName } from '@bunting/contracts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { FeaturesContext } from '../context.ts';

export const validateContextFieldNameEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(ValidateContextFieldName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if ((await contextFields.find(body.name)) !== undefined) {
      throw refusal('NameExistsError', 'A context field with that name already exist');
    }
    return null;
  });
