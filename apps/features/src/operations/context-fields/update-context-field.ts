import { implement } from '@bunting/bus';
import { UpdateContextField } from '@bunting/contracts';
import { updateContextField } from '../../domain/context-fields/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { editContextField } from './edit-context-field.ts';

export const updateContextFieldEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateContextField, (request) =>
    transaction(request, (tx) => {
      const { params, body } = request;
      return editContextField(tx, params.name, (field) => updateContextField(field, body));
    }),
  );
