import { RegisterFrontendApplication } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { registrationEndpoint } from './register-application.ts';

/** The same for frontend SDKs. */
export const registerFrontendApplicationEndpoint = ({ storeReport, findApplicationEnvironment }: FeaturesContext) =>
  registrationEndpoint(RegisterFrontendApplication, storeReport, findApplicationEnvironment);
