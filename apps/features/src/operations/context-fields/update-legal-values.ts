import { type Caller, notFound, SetLegalValue } from '@bunting/contracts';
import { type StoredContextField } from '../../domain/constraints/context-field.ts';
import { shortName } from '../../domain/refusals.ts';
import { isEqual } from '../../domain/is-equal.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';

export const updateLegalValues = async (
  { contextFields, events }: Transaction,
  caller: Caller,
  name: string,
  update: (field: StoredContextField) => StoredContextField,
): Promise<null> => {
  authoriseAtRoot(caller, SetLegalValue.permission);
  const before = await contextFields.findForUpdate(name);
  if (before === undefined) throw notFound(`Could not find Context field with name ${shortName(name)}`);
  const after = update(before);
  if (isEqual(after, before)) return null;
  await contextFields.save(after);
  events.emit([{ type: 'context-field-updated', data: after, preData: before }]);
  return null;
};
