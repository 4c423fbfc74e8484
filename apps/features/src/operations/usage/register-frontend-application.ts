import { implement } from '@bunting/bus';
import { RegisterFrontendApplication } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { storeRegistration } from './register-application.ts';

/** Registers applications as `registerApplicationEndpoint` does, for frontend SDKs. */
export const registerFrontendApplicationEndpoint = (context: FeaturesContext) =>
  implement(RegisterFrontendApplication, (request) =>
    storeRegistration(context, RegisterFrontendApplication, request, 'OK'),
  );
