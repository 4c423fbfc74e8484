import { implement } from '@bunting/bus';
import { SetEnvironmentOrder } from '@bunting/contracts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { updateEnvironments } from './update-environments.ts';
import type { FeaturesContext } from '../context.ts';

export const setEnvironmentOrderEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetEnvironmentOrder, (request) =>
    transaction(request, async (tx) => {
      authoriseAtRoot(request.caller, SetEnvironmentOrder.permission);
      const orders = Object.entries(request.body);
      await updateEnvironments(tx, new Map(orders.map(([name, sortOrder]) => [name, { sortOrder }])));
      return null;
    }),
  );
