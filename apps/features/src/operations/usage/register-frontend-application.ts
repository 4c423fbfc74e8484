import { RegisterFrontendApplication } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { registering } from './register-application.ts';

/** The same, of browsers and apps. */
export const registerFrontendApplicationEndpoint = ({
  keepReport: keep,
  applicationEnvironments: environments,
}: FeaturesContext) => registering(RegisterFrontendApplication, keep, environments);
