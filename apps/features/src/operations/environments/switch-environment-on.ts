import { implement } from '@bunting/bus';
import { SwitchEnvironmentOn } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { setEnvironmentEnabled } from './set-environment-enabled.ts';

export const switchEnvironmentOnEndpoint = ({ work }: FeaturesContext) =>
  implement(SwitchEnvironmentOn, (request) => setEnvironmentEnabled(work, request, true));
