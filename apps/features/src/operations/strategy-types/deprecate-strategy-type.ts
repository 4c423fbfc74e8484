import { implement } from '@bunting/bus';
import { DeprecateStrategyType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { changeDeprecation } from './change-deprecation.ts';

export const deprecateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeprecateStrategyType, (request) => changeDeprecation(transaction, request, true));
