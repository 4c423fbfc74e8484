import { implement, JsonText } from '@bunting/bus';
import { GetContextField } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const getContextFieldEndpoint = ({ contextFields: fields }: FeaturesContext) =>
  implement(
    GetContextField,
    async ({ params, caller }) => new JsonText(await fields.one(params.name, hiddenFrom(caller))),
  );
