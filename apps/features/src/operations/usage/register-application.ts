import { implement } from '@bunting/bus';
import { RegisterApplication, RegisterFrontendApplication } from '@bunting/contracts';
import { registeredApplication } from '../../domain/usage.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

const registering = (operation: typeof RegisterApplication, work: UnitOfWork) =>
  implement(operation, async (asked) => {
    const application = registeredApplication(asked.body, asked.caller);
    authorise(asked.caller, operation.permission, { environment: application.environment });
    return keepReport(work, asked, { counts: [], applications: [application] });
  });

export const registerApplicationEndpoint = (work: UnitOfWork) => registering(RegisterApplication, work);

/** The same, of browsers and apps. */
export const registerFrontendApplicationEndpoint = (work: UnitOfWork) => registering(RegisterFrontendApplication, work);
