import { implement, JsonText } from '@bunting/bus';
import { ListContextFields } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listContextFieldsEndpoint = ({ contextFields }: FeaturesContext) =>
  implement(ListContextFields, async ({ caller }) => new JsonText(await contextFields.all(hiddenProjectsOf(caller))));
