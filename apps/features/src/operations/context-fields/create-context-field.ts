import { implement } from '@bunting/bus';
import { CreateContextField } from '@bunting/contracts';
import { newContextField } from '../../domain/context-fields/context-field.ts';
import { contextFieldNameTaken } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

export const createContextFieldEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateContextField, (request) =>
    transaction(request, async ({ contextFields }) => {
      const { field, events } = newContextField(request.body);
      const added = await contextFields.add(field, events);
      if (added === undefined) throw contextFieldNameTaken();
      return { ...field, legalValues: [...field.legalValues], ...added };
    }),
  );
