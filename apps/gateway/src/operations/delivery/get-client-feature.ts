import { implement } from '@bunting/bus';
import { GetClientFeature } from '@bunting/contracts';
import { notLoaded } from './not-loaded.ts';

/** Rejects requests until the memory is loaded; `delivery/client-answers.ts` answers them from then on. */
export const getClientFeatureEndpoint = () => implement(GetClientFeature, notLoaded);
