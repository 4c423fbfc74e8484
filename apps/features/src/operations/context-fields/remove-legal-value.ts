import { implement } from '@bunting/bus';
import { RemoveLegalValue } from '@bunting/contracts';
import { withoutLegalValue } from '../../domain/constraints/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { updateLegalValues } from './update-legal-values.ts';

export const removeLegalValueEndpoint = ({ transaction }: FeaturesContext) =>
  implement(RemoveLegalValue, (request) =>
    transaction(request, (tx) =>
      updateLegalValues(tx, request.caller, request.params.name, (field) =>
        withoutLegalValue(field, request.params.value),
      ),
    ),
  );
