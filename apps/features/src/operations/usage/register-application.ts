import { implement } from '@bunting/bus';
import { RegisterApplication } from '@bunting/contracts';
import { environmentFor } from '../../domain/application-token.ts';
import { registeredApplication } from '../../domain/usage.ts';
import type { ApplicationEnvironments } from '../../persistence/application-environments.ts';
import { authorise } from '../authorise.ts';
import type { KeepReport } from './report.ts';
import type { FeaturesContext } from '../context.ts';

export const registering = (
  operation: typeof RegisterApplication,
  keep: KeepReport,
  environments: ApplicationEnvironments,
) =>
  implement(operation, async (request) => {
    const { body, caller } = request;
    // An application may start before its environment is there: a name that is not known is kept as it is.
    const environment = (await environments(caller, body.environment)) ?? environmentFor(caller, body.environment);
    const application = registeredApplication(body, environment, caller);
    authorise(caller, operation.permission, { environment });
    return keep(request, { counts: [], applications: [application] });
  });

export const registerApplicationEndpoint = ({
  keepReport: keep,
  applicationEnvironments: environments,
}: FeaturesContext) => registering(RegisterApplication, keep, environments);
