import { implement } from '@bunting/bus';
import { EvaluateFlags } from '@bunting/contracts';
import { notLoaded } from '../delivery/not-loaded.ts';

/** Rejects requests until the memory is loaded; `delivery/ofrep-answers.ts` answers them from then on. */
export const evaluateFlagsEndpoint = () => implement(EvaluateFlags, notLoaded);
