import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  CreateContextField,
  DeleteContextField,
  GetContextField,
  ListContextFields,
  ListStrategiesOfContextField,
  RemoveLegalValue,
  SetLegalValue,
  UpdateContextField,
  ValidateContextFieldName,
} from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { contextFieldNameTaken, contextFieldNotFound } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import {
  type ContextFieldDecision,
  deleteContextField,
  newContextField,
  removeLegalValue,
  setLegalValue,
  type StoredContextField,
  updateContextField,
} from './context-field.ts';

export function contextFieldEndpoints({ contextFields, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListContextFields, ({ caller }) => contextFields.all(hiddenProjectsOf(caller))),

    reads(ListStrategiesOfContextField, ({ params, caller }) =>
      contextFields.strategiesOf(params.name, hiddenProjectsOf(caller)),
    ),

    reads(GetContextField, ({ params, caller }) => contextFields.one(params.name, hiddenProjectsOf(caller))),

    implement(ValidateContextFieldName, async ({ body }) => {
      requireUrlFriendlyName(body.name);
      if ((await contextFields.find(body.name)) !== undefined) {
        throw contextFieldNameTaken();
      }
      return null;
    }),

    writes(CreateContextField, transaction, async ({ contextFields }, { body }) => {
      const { field, events } = newContextField(body);
      const added = await contextFields.add(field, events);
      if (added === undefined) throw contextFieldNameTaken();
      return { ...field, legalValues: [...field.legalValues], ...added };
    }),

    writes(UpdateContextField, transaction, (tx, { params, body }) =>
      editContextField(tx, params.name, (field) => updateContextField(field, body)),
    ),

    writes(SetLegalValue, transaction, (tx, { params, body }) =>
      editContextField(tx, params.name, (field) => setLegalValue(field, body)),
    ),

    writes(RemoveLegalValue, transaction, (tx, { params }) =>
      editContextField(tx, params.name, (field) => removeLegalValue(field, params.value)),
    ),

    writes(DeleteContextField, transaction, async ({ contextFields }, { params, caller }) => {
      const field = await contextFields.findForUpdate(params.name);
      if (field === undefined) throw contextFieldNotFound(params.name);
      const referrers = await contextFields.referrersOf(field.name);
      const event = deleteContextField(field, referrers, hiddenProjectsOf(caller));
      await contextFields.remove(field.name, [event]);
      return null;
    }),
  ];
}

/** Loads a context field, and saves the edit that `decide` makes of it. */
async function editContextField(
  { contextFields }: Pick<Transaction, 'contextFields'>,
  name: string,
  decide: (field: StoredContextField) => ContextFieldDecision,
): Promise<null> {
  const before = await contextFields.findForUpdate(name);
  if (before === undefined) throw contextFieldNotFound(name);
  const decision = decide(before);
  await contextFields.save(before, decision.field, decision.events);
  return null;
}
