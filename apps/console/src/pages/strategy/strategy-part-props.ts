import type { StrategyDraft } from '../../strategies/strategy-draft.ts';

/** A part of the editor of a strategy. */
export interface StrategyPartProps {
  readonly draft: StrategyDraft;
  readonly onChange: (draft: StrategyDraft) => void;
}
