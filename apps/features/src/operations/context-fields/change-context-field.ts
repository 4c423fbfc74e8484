import type { ContextFieldDecision, StoredContextField } from '../../domain/constraints/context-field.ts';
import { contextFieldNotFound } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Changes a context field as decided, and emits the events. */
export const changeContextField = async (
  { contextFields, events }: Transaction,
  name: string,
  decide: (field: StoredContextField) => ContextFieldDecision,
): Promise<null> => {
  const before = await contextFields.findForUpdate(name);
  if (before === undefined) throw contextFieldNotFound(name);
  const decision = decide(before);
  if (decision.field !== before) await contextFields.save(decision.field);
  events.emit(decision.events);
  return null;
};
