import { implement } from '@bunting/bus';
import { RegisterApplication, RegisterFrontendApplication } from '@bunting/contracts';
import { environmentFor } from '../../domain/application-token.ts';
import { registeredApplication } from '../../domain/usage.ts';
import type { ApplicationEnvironments } from '../../persistence/application-environments.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

const registering = (operation: typeof RegisterApplication, work: UnitOfWork, environments: ApplicationEnvironments) =>
  implement(operation, async (asked) => {
    const { body, caller } = asked;
    // An application may start before its environment is there: a name that is not known is kept as it is.
    const environment = (await environments(caller, body.environment)) ?? environmentFor(caller, body.environment);
    const application = registeredApplication(body, environment, caller);
    authorise(caller, operation.permission, { environment });
    return keepReport(work, asked, { counts: [], applications: [application] });
  });

export const registerApplicationEndpoint = (work: UnitOfWork, environments: ApplicationEnvironments) =>
  registering(RegisterApplication, work, environments);

/** The same, of browsers and apps. */
export const registerFrontendApplicationEndpoint = (work: UnitOfWork, environments: ApplicationEnvironments) =>
  registering(RegisterFrontendApplication, work, environments);
