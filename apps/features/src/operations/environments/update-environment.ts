import { implement } from '@bunting/bus';
import { UpdateEnvironment } from '@bunting/contracts';
import { environmentView } from '../../domain/environments/environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { updateEnvironments } from './update-environments.ts';
import type { FeaturesContext } from '../context.ts';

export const updateEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authoriseAtRoot(caller, UpdateEnvironment.permission);
      const [environment] = await updateEnvironments(tx, new Map([[params.name, body]]));
      if (environment === undefined) throw environmentNotFound(params.name);
      return environmentView(environment);
    }),
  );
