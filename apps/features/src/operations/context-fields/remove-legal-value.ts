import { implement } from '@bunting/bus';
import { RemoveLegalValue } from '@bunting/contracts';
import { removeLegalValue } from '../../domain/context-fields/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { editContextField } from './edit-context-field.ts';

export const removeLegalValueEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveLegalValue, (request) =>
    transaction(request, (tx) => {
      const { params } = request;
      return editContextField(tx, params.name, (field) => removeLegalValue(field, params.value));
    }),
  );
