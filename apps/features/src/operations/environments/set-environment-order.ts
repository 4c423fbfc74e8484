import { implement } from '@bunting/bus';
import { SetEnvironmentOrder } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';
import { changeEnvironments } from './change-environments.ts';

export const setEnvironmentOrderEndpoint = (work: UnitOfWork) =>
  implement(SetEnvironmentOrder, (asked) =>
    work(asked, async (tx) => {
      authoriseEverywhere(asked.caller, SetEnvironmentOrder.permission);
      const places = Object.entries(asked.body);
      await changeEnvironments(tx, new Map(places.map(([name, sortOrder]) => [name, { sortOrder }])));
      return null;
    }),
  );
