import { implement, JsonText } from '@bunting/bus';
import { GetContextField } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getContextFieldEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(
    GetContextField,
    async ({ params, caller }) => new JsonText(await contextFields.one(params.name, hiddenProjectsOf(caller))),
  );
