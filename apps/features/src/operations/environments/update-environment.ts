import { implement } from '@bunting/bus';
import { UpdateEnvironment } from '@bunting/contracts';
import { environmentView, updateEnvironment } from '../../domain/environments/environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import { saveEnvironments } from './save-environments.ts';
import type { FeaturesContext } from '../context.ts';

export const updateEnvironmentEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateEnvironment, (request) =>
    transaction(request, async (tx) => {
      const { params, body } = request;
      const [before] = await tx.environments.findForUpdate([params.name]);
      if (before === undefined) throw environmentNotFound(params.name);
      const decision = updateEnvironment(before, body);
      await saveEnvironments(tx, [decision]);
      return environmentView(decision.environment);
    }),
  );
