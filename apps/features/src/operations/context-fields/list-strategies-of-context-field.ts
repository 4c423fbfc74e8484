import { implement, JsonText } from '@bunting/bus';
import { ListStrategiesOfContextField } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listStrategiesOfContextFieldEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(
    ListStrategiesOfContextField,
    async ({ params, caller }) => new JsonText(await contextFields.strategiesOf(params.name, hiddenProjectsOf(caller))),
  );
