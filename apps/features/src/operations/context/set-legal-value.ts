import { implement } from '@bunting/bus';
import { SetLegalValue } from '@bunting/contracts';
import { withLegalValue } from '../../domain/context-field.ts';
import type { FeaturesContext } from '../context.ts';
import { change } from './change-legal-values.ts';

export const setLegalValueEndpoint = ({ work }: FeaturesContext) =>
  implement(SetLegalValue, (asked) =>
    work(asked, (tx) => change(tx, asked.caller, asked.params.name, (field) => withLegalValue(field, asked.body))),
  );
