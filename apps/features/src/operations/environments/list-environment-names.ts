import { implement } from '@bunting/bus';
import { ListEnvironmentNames } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listEnvironmentNamesEndpoint = ({ environments }: FeaturesContext) =>
  implement(ListEnvironmentNames, async () => ({ names: await environments.names() }));
