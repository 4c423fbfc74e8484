import { implement } from '@bunting/bus';
import { notFound, UpdateEnvironment } from '@bunting/contracts';
import { shownEnvironment } from '../../domain/environment.ts';
import { named } from '../../domain/refusals.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';
import { updateEnvironments } from './update-environments.ts';
import type { FeaturesContext } from '../context.ts';

export const updateEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authoriseEverywhere(caller, UpdateEnvironment.permission);
      const [environment] = await updateEnvironments(tx, new Map([[params.name, body]]));
      if (environment === undefined) throw notFound(`Could not find environment with name: ${named(params.name)}`);
      return shownEnvironment(environment);
    }),
  );
