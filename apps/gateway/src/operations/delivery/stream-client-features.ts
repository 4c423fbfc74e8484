import { implement } from '@bunting/bus';
import { StreamClientFeatures } from '@bunting/contracts';
import { notLoaded } from './not-loaded.ts';

/** Rejects requests until the memory is loaded; `delivery/client-stream.ts` answers them from then on. */
export const streamClientFeaturesEndpoint = () => implement(StreamClientFeatures, notLoaded);
