import { implement } from '@bunting/bus';
import { SetLegalValue } from '@bunting/contracts';
import { setLegalValue } from '../../domain/context-fields/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { editContextField } from './edit-context-field.ts';

export const setLegalValueEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetLegalValue, (request) =>
    transaction(request, (tx) => {
      const { params, body } = request;
      return editContextField(tx, params.name, (field) => setLegalValue(field, body));
    }),
  );
