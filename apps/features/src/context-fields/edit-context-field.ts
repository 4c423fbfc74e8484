import type { ContextFieldDecision, StoredContextField } from './context-field.ts';
import { contextFieldNotFound } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/** Loads a context field, and saves the edit that `decide` makes of it. */
export const editContextField = async (
  { contextFields }: Pick<Transaction, 'contextFields'>,
  name: string,
  decide: (field: StoredContextField) => ContextFieldDecision,
): Promise<null> => {
  const before = await contextFields.findForUpdate(name);
  if (before === undefined) throw contextFieldNotFound(name);
  const decision = decide(before);
  await contextFields.save(before, decision.field, decision.events);
  return null;
};
