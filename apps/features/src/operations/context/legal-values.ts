import { implement } from '@bunting/bus';
import { type Caller, notFound, RemoveLegalValue, SetLegalValue } from '@bunting/contracts';
import { type StoredContextField, withLegalValue, withoutLegalValue } from '../../domain/context-field.ts';
import { named } from '../../domain/refusals.ts';
import { isSame } from '../../domain/same.ts';
import type { UnitOfWork, Work } from '../../persistence/unit-of-work.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';

const change = async (
  { contextFields, events }: Work,
  caller: Caller,
  name: string,
  changed: (field: StoredContextField) => StoredContextField,
): Promise<null> => {
  authoriseEverywhere(caller, SetLegalValue.permission);
  const before = await contextFields.findForUpdate(name);
  if (before === undefined) throw notFound(`Could not find Context field with name ${named(name)}`);
  const after = changed(before);
  if (isSame(after, before)) return null;
  await contextFields.save(after);
  events.record([{ type: 'context-field-updated', data: after, preData: before }]);
  return null;
};

export const setLegalValueEndpoint = (work: UnitOfWork) =>
  implement(SetLegalValue, (asked) =>
    work(asked, (tx) => change(tx, asked.caller, asked.params.name, (field) => withLegalValue(field, asked.body))),
  );

export const removeLegalValueEndpoint = (work: UnitOfWork) =>
  implement(RemoveLegalValue, (asked) =>
    work(asked, (tx) =>
      change(tx, asked.caller, asked.params.name, (field) => withoutLegalValue(field, asked.params.value)),
    ),
  );
