import { RegisterFrontendApplication } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { registrationEndpoint } from './register-application.ts';

/** Registers applications as `registerApplicationEndpoint` does, for frontend SDKs. */
export const registerFrontendApplicationEndpoint = ({ storeReport, findEnvironmentOfReport }: FeaturesContext) =>
  registrationEndpoint(RegisterFrontendApplication, storeReport, findEnvironmentOfReport);
