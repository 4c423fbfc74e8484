import { implement } from '@bunting/bus';
import { SwitchEnvironmentOff } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { switchEnvironment } from './set-environment-enabled.ts';

export const switchEnvironmentOffEndpoint = ({ work }: FeaturesContext) =>
  implement(SwitchEnvironmentOff, (request) => switchEnvironment(work, request, false));
