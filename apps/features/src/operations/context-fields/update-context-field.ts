import { implement } from '@bunting/bus';
import { notFound, UpdateContextField } from '@bunting/contracts';
import { contextFieldAfter } from '../../domain/constraints/context-field.ts';
import { shortName } from '../../domain/refusals.ts';
import { isEqual } from '../../domain/is-equal.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import type { FeaturesContext } from '../context.ts';

export const updateContextFieldEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateContextField, (request) =>
    transaction(request, async ({ contextFields, events }) => {
      const { params, body, caller } = request;
      authoriseAtRoot(caller, UpdateContextField.permission);
      const before = await contextFields.findForUpdate(params.name);
      if (before === undefined) throw notFound(`Could not find Context field with name ${shortName(params.name)}`);
      const after = contextFieldAfter(before, body);
      if (isEqual(after, before)) return null;
      await contextFields.save(after);
      events.emit([{ type: 'context-field-updated', data: after, preData: before }]);
      return null;
    }),
  );
