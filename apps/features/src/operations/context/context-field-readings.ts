import { implement, JsonText } from '@bunting/bus';
import {
  GetContextField,
  ListContextFields,
  ListStrategiesOfContextField,
  refusal,
  ValidateConstraint,
  ValidateContextFieldName,
} from '@bunting/contracts';
import { requireValidConstraint } from '../../domain/constraint.ts';
import { requireUrlFriendlyName } from '../../domain/names.ts';
import type { ContextFieldReader } from '../../persistence/context-fields.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listContextFieldsEndpoint = (fields: ContextFieldReader) =>
  implement(ListContextFields, async ({ caller }) => new JsonText(await fields.all(hiddenFrom(caller))));

export const getContextFieldEndpoint = (fields: ContextFieldReader) =>
  implement(
    GetContextField,
    async ({ params, caller }) => new JsonText(await fields.one(params.name, hiddenFrom(caller))),
  );

export const listStrategiesOfContextFieldEndpoint = (fields: ContextFieldReader) =>
  implement(
    ListStrategiesOfContextField,
    async ({ params, caller }) => new JsonText(await fields.strategiesOf(params.name, hiddenFrom(caller))),
  );

export const validateContextFieldNameEndpoint = (fields: ContextFieldReader) =>
  implement(ValidateContextFieldName, async ({ body }) => {
    requireUrlFriendlyName(body.name);
    if ((await fields.find(body.name)) !== undefined) {
      throw refusal('NameExistsError', 'A context field with that name already exist');
    }
    return null;
  });

export const validateConstraintEndpoint = (fields: ContextFieldReader) =>
  implement(ValidateConstraint, async ({ body }) => {
    requireValidConstraint(body, await fields.find(body.contextName));
    return null;
  });
