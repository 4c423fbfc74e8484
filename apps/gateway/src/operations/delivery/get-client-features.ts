import { implement } from '@bunting/bus';
import { GetClientFeatures } from '@bunting/contracts';
import { notLoaded } from './not-loaded.ts';

/** Rejects requests until the memory is loaded; `delivery/client-answers.ts` answers them from then on. */
export const getClientFeaturesEndpoint = () => implement(GetClientFeatures, notLoaded);
