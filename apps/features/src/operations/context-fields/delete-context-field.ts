import { implement } from '@bunting/bus';
import { DeleteContextField, notFound, refusal } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { formatReferences } from '../../domain/format-references.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteContextFieldEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteContextField, (request) =>
    transaction(request, async ({ contextFields, events }) => {
      const { params, caller } = request;
      authoriseAtRoot(caller, DeleteContextField.permission);
      const field = await contextFields.findForUpdate(params.name);
      if (field === undefined) throw notFound(`Could not find Context field with name ${shortName(params.name)}`);
      const users = await contextFields.usersOf(field.name);
      if (users.length > 0) {
        throw refusal(
          'ConflictError',
          `Context field ${field.name} is in use by ${formatReferences(users, hiddenProjectsOf(caller))}`,
        );
      }
      await contextFields.remove(field.name);
      events.emit([{ type: 'context-field-deleted', preData: field }]);
      return null;
    }),
  );
