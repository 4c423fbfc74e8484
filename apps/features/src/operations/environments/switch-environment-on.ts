import { implement } from '@bunting/bus';
import { SwitchEnvironmentOn } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { switchEnvironment } from './switch-environment.ts';

export const switchEnvironmentOnEndpoint = ({ work }: FeaturesContext) =>
  implement(SwitchEnvironmentOn, (request) => switchEnvironment(work, request, true));
