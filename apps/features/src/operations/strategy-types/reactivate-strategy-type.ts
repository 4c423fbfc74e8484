import { implement } from '@bunting/bus';
import { ReactivateStrategyType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { changeDeprecation } from './change-deprecation.ts';

export const reactivateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ReactivateStrategyType, (request) => changeDeprecation(transaction, request, false));
