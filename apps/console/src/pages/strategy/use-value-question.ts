import type { Constraint } from '@bunting/contracts';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import { lacksValue } from './strategy-inputs.ts';

export interface ValueQuestion {
  /** whether constraints without a value are marked as faults */
  readonly isAsked: boolean;
  /** Whether all constraints have a value. Where one has none, they are marked, and the first gets the focus. */
  readonly requireValues: (constraints: readonly Constraint[]) => boolean;
  /** Ends it once all have a value: a constraint that is added afterwards is no fault yet. */
  readonly onEdit: (constraints: readonly Constraint[]) => void;
}

/** Asks for the values that constraints lack before they are sent. */
export function useValueQuestion(): ValueQuestion {
  const [isAsked, setAsked] = useState(false);
  return {
    isAsked,
    requireValues: (constraints) => {
      if (!constraints.some(lacksValue)) return true;
      flushSync(() => setAsked(true));
      document.querySelector<HTMLElement>('[aria-labelledby="constraints"] [aria-invalid="true"]')?.focus();
      return false;
    },
    onEdit: (constraints) => {
      if (!constraints.some(lacksValue)) setAsked(false);
    },
  };
}
