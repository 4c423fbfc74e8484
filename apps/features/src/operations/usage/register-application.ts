import { implement } from '@bunting/bus';
import { authorise, RegisterApplication } from '@bunting/contracts';
import { effectiveEnvironment } from '../../domain/usage/effective-environment.ts';
import { registeredApplication } from '../../domain/usage/reported-applications.ts';
import type { FindEnvironmentOfReport } from '../../persistence/usage/find-environment-of-report.ts';
import type { StoreReport } from './store-report.ts';
import type { FeaturesContext } from '../context.ts';

/** The endpoint by which SDKs register applications, on the server or, with the operation for frontends, in browsers and apps. */
export const registrationEndpoint = (
  operation: typeof RegisterApplication,
  storeReport: StoreReport,
  findEnvironmentOfReport: FindEnvironmentOfReport,
) =>
  implement(operation, async (request) => {
    const { body, caller } = request;
    // An application may start before its environment is created, so the name of an unknown environment is stored as it is.
    const environment =
      (await findEnvironmentOfReport(caller, body.environment)) ?? effectiveEnvironment(caller, body.environment);
    authorise(caller, operation.permission, { environment });
    const application = registeredApplication(body, environment, caller);
    return storeReport(request, { counts: [], applications: [application] });
  });

export const registerApplicationEndpoint = ({ storeReport, findEnvironmentOfReport }: FeaturesContext) =>
  registrationEndpoint(RegisterApplication, storeReport, findEnvironmentOfReport);
