import { implement } from '@bunting/bus';
import { SwitchEnvironmentOn } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setEnvironmentEnabled } from './set-environment-enabled.ts';

export const switchEnvironmentOnEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SwitchEnvironmentOn, (request) => setEnvironmentEnabled(transaction, request, true));
