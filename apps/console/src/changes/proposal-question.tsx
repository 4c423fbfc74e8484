import { Button } from '../components/buttons/button.tsx';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { useStore } from '../store.ts';
import { formatCount } from '../text/format-number.ts';
import { proposalQuestion } from './proposal-question-store.ts';

/** Asks whether a proposal is added to a request that is in review or approved, which takes its approvals away, or starts a new one. */
export function ProposalQuestion() {
  const question = useStore(proposalQuestion);
  if (question === undefined) return null;
  const {
    target: { title, state, approvals },
    answer,
  } = question;
  return (
    <Dialog
      title="Add to the request in review?"
      isAlert
      onClose={() => answer('cancel')}
      footer={
        <>
          <Button onPress={() => answer('cancel')}>Cancel</Button>
          <Button onPress={() => answer('join')}>Add to it</Button>
          <Button variant="primary" autoFocus onPress={() => answer('new')}>
            Start a new request
          </Button>
        </>
      }
    >
      <p>
        Your change request “<bdi>{title}</bdi>” is {state === 'Approved' ? 'approved' : 'in review'}
        {approvals > 0 && ` and has ${formatCount(approvals, 'approval')}`}.{' '}
        {approvals > 0
          ? 'If this is added to it, its approvals lapse, and it is reviewed again.'
          : 'If this is added to it, reviewers find more than they were sent.'}
      </p>
    </Dialog>
  );
}
