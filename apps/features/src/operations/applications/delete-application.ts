import { implement } from '@bunting/bus';
import { DeleteApplication } from '@bunting/contracts';
import { applicationNotFound } from '../../domain/refusals.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteApplicationEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteApplication, (request) =>
    transaction(request, async ({ applications }) => {
      const { params, caller } = request;
      if (!(await applications.remove(params.appName, hiddenProjectsOf(caller))))
        throw applicationNotFound(params.appName);
      return null;
    }),
  );
