import { implement, JsonText } from '@bunting/bus';
import { HasDependencies } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const hasDependenciesEndpoint = ({ dependencies }: FeaturesContext) =>
  implement(HasDependencies, async () => new JsonText(await dependencies.any()));
