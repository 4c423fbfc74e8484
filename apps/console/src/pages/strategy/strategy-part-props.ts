import type { StrategyDraft } from '../../strategies/strategy-draft.ts';

/** The props of a component that edits a part of a strategy. */
export interface StrategyPartProps {
  readonly draft: StrategyDraft;
  readonly onChange: (draft: StrategyDraft) => void;
}
