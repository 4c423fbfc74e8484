import { implement } from '@bunting/bus';
import { SwitchEnvironmentOff } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setEnvironmentEnabled } from './set-environment-enabled.ts';

export const switchEnvironmentOffEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SwitchEnvironmentOff, (request) => setEnvironmentEnabled(transaction, request, false));
