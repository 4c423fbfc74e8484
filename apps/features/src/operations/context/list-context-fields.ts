import { implement, JsonText } from '@bunting/bus';
import { ListContextFields } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listContextFieldsEndpoint = ({ contextFields: fields }: FeaturesContext) =>
  implement(ListContextFields, async ({ caller }) => new JsonText(await fields.all(hiddenFrom(caller))));
