import { implement } from '@bunting/bus';
import { DeleteApplication, notFound } from '@bunting/contracts';
import { shortName } from '../../domain/refusals.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteApplicationEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteApplication, (request) =>
    transaction(request, async ({ applications }) => {
      const { params, caller } = request;
      authoriseAtRoot(caller, DeleteApplication.permission);
      if (!(await applications.remove(params.appName, hiddenProjectsOf(caller))))
        throw notFound(`Could not find application with appName ${shortName(params.appName)}`);
      return null;
    }),
  );
