import { RegisterFrontendApplication } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { registrationEndpoint } from './register-application.ts';

/** The same, of browsers and apps. */
export const registerFrontendApplicationEndpoint = ({
  storeReport,
  findApplicationEnvironment: environments,
}: FeaturesContext) => registrationEndpoint(RegisterFrontendApplication, storeReport, environments);
