import { implement, JsonText } from '@bunting/bus';
import { ListStrategiesOfContextField } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listStrategiesOfContextFieldEndpoint = ({ contextFields: fields }: FeaturesContext) =>
  implement(
    ListStrategiesOfContextField,
    async ({ params, caller }) => new JsonText(await fields.strategiesOf(params.name, hiddenFrom(caller))),
  );
