import { implement } from '@bunting/bus';
import { SwitchEnvironmentOff } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { switchEnvironment } from './switch-environment.ts';

export const switchEnvironmentOffEndpoint = ({ work }: FeaturesContext) =>
  implement(SwitchEnvironmentOff, (request) => switchEnvironment(work, request, false));
