import { implement } from '@bunting/bus';
import { ReactivateStrategyType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setDeprecated } from './deprecate-strategy-type.ts';

export const reactivateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ReactivateStrategyType, (request) => setDeprecated(transaction, request, false));
