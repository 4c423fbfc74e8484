import { implement } from '@bunting/bus';
import { SetLegalValue } from '@bunting/contracts';
import { setLegalValue } from '../../domain/constraints/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { changeContextField } from './change-context-field.ts';

export const setLegalValueEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetLegalValue, (request) =>
    transaction(request, (tx) => {
      const { params, body, caller } = request;
      const target = { name: params.name, caller, access: SetLegalValue.permission };
      return changeContextField(tx, target, (field) => setLegalValue(field, body));
    }),
  );
