import type { GetProposalTarget, ReplyOf } from '@bunting/contracts';
import { createStore } from '../store.ts';

// Apart from what proposes, because the shell loads it with every page.

/** The change request to which a proposal would be added. */
export type ProposalTarget = NonNullable<ReplyOf<typeof GetProposalTarget>['changeRequest']>;

/** Whether a proposal is added to a request that reviewers have seen already, or starts another one. */
type ProposalAnswer = 'join' | 'new' | 'cancel';

interface ProposalQuestion {
  readonly target: ProposalTarget;
  readonly answer: (answer: ProposalAnswer) => void;
}

/** The question that the shell shows before a proposal would take approvals away; undefined while there is none. */
export const proposalQuestion = createStore<ProposalQuestion | undefined>(undefined);

/** Shows the question, and resolves with the answer. */
export function askAboutProposal(target: ProposalTarget): Promise<ProposalAnswer> {
  return new Promise((resolve) => {
    // An earlier question that nobody can see any more.
    proposalQuestion.get()?.answer('cancel');
    proposalQuestion.set({
      target,
      answer: (answer) => {
        proposalQuestion.set(undefined);
        resolve(answer);
      },
    });
  });
}
