import { implement, type OperationRequest } from '@bunting/bus';
import { authorise, RegisterApplication, type RegisterFrontendApplication } from '@bunting/contracts';
import { effectiveEnvironment } from '../../domain/usage/effective-environment.ts';
import { registeredApplication } from '../../domain/usage/reported-applications.ts';
import type { FeaturesContext } from '../context.ts';

/** Stores the registration of an application that has started, on the server or in browsers and apps. */
export const storeRegistration = async <R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof RegisterApplication | typeof RegisterFrontendApplication,
  request: OperationRequest<typeof RegisterApplication>,
  reply: R,
): Promise<R> => {
  const { body, caller } = request;
  // An application may start before its environment is created, so the name of an unknown environment is stored as it is.
  const environment =
    (await findEnvironmentOfReport(caller, body.environment)) ?? effectiveEnvironment(caller, body.environment);
  authorise(caller, permission, { environment });
  const application = registeredApplication(body, environment, caller);
  return storeReport(request, { counts: [], applications: [application] }, reply);
};

export const registerApplicationEndpoint = (context: FeaturesContext) =>
  implement(RegisterApplication, (request) => storeRegistration(context, RegisterApplication, request, null));
