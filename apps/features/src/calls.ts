import { callsOf } from '@bunting/bus';

/** Calls of the operations that `calledOperations` of the contracts lists for this service, and of no others. */
export const { call, callIfSupported, callForJsonIfSupported } = callsOf('features');
