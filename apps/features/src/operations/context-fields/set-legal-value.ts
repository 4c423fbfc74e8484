import { implement } from '@bunting/bus';
import { SetLegalValue } from '@bunting/contracts';
import { withLegalValue } from '../../domain/constraints/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { updateLegalValues } from './update-legal-values.ts';

export const setLegalValueEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetLegalValue, (request) =>
    transaction(request, (tx) =>
      updateLegalValues(tx, request.caller, request.params.name, (field) => withLegalValue(field, request.body)),
    ),
  );
