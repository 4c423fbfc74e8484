import { implement } from '@bunting/bus';
import { RegisterApplication } from '@bunting/contracts';
import { registeredApplication } from '../../domain/usage.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

export const registerApplicationEndpoint = (work: UnitOfWork) =>
  implement(RegisterApplication, async (asked) => {
    const application = registeredApplication(asked.body, asked.caller);
    authorise(asked.caller, RegisterApplication.permission, { environment: application.environment });
    return keepReport(work, asked, { counts: [], applications: [application] });
  });
