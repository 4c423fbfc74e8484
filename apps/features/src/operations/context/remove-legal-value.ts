import { implement } from '@bunting/bus';
import { RemoveLegalValue } from '@bunting/contracts';
import { withoutLegalValue } from '../../domain/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { change } from './change-legal-values.ts';

export const removeLegalValueEndpoint = ({ work }: FeaturesContext) =>
  implement(RemoveLegalValue, (asked) =>
    work(asked, (tx) =>
      change(tx, asked.caller, asked.params.name, (field) => withoutLegalValue(field, asked.params.value)),
    ),
  );
