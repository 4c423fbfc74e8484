import { implement } from '@bunting/bus';
import { GetFrontendFeatures } from '@bunting/contracts';
import { notLoaded } from './not-loaded.ts';

/** Rejects requests until the memory is loaded; `delivery/frontend-answers.ts` answers them from then on. */
export const getFrontendFeaturesEndpoint = () => implement(GetFrontendFeatures, notLoaded);
