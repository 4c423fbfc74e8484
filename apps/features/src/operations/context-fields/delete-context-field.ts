import { implement } from '@bunting/bus';
import { DeleteContextField } from '@bunting/contracts';
import { contextFieldNotFound } from '../../domain/refusals.ts';
import { deleteContextField } from '../../domain/context-fields/context-field.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteContextFieldEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteContextField, (request) =>
    transaction(request, async ({ contextFields }) => {
      const { params, caller } = request;
      const field = await contextFields.findForUpdate(params.name);
      if (field === undefined) throw contextFieldNotFound(params.name);
      const referrers = await contextFields.referrersOf(field.name);
      const event = deleteContextField(field, referrers, hiddenProjectsOf(caller));
      await contextFields.remove(field.name, [event]);
      return null;
    }),
  );
