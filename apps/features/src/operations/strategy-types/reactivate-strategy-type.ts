import { implement } from '@bunting/bus';
import { ReactivateStrategyType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setDeprecated } from './deprecate-strategy-type.ts';

export const reactivateStrategyTypeEndpoint = ({ work }: FeaturesContext) =>
  implement(ReactivateStrategyType, (request) => setDeprecated(work, request, false));
