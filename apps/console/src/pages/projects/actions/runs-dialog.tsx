import { type ActionSet, ListActionSetEvents } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { EmptyState, QueryResult } from '../../../components/content/query-result.tsx';
import { Table } from '../../../components/content/table.tsx';
import { Time } from '../../../components/content/time.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { inPermissionNames } from '../../../text/permission-words.ts';
import { SignalPayload } from '../../admin/signals/signal-payload.tsx';
import { actionPhrase } from './action-phrase.ts';
import { isolated } from '../../../text/isolated.ts';

const states = {
  started: ['accent', 'Started'],
  success: ['good', 'Done'],
  failed: ['danger', 'Failed'],
  'not started': [undefined, 'Not started'],
} as const;

function StateBadge({ state }: { readonly state: keyof typeof states }) {
  const [tone, label] = states[state];
  return <Badge {...(tone !== undefined && { tone })}>{label}</Badge>;
}

interface RunsDialogProps {
  readonly project: string;
  readonly set: ActionSet;
  readonly onClose: () => void;
}

/** The runs of a set of actions: which signal caused them, and what became of each action. */
export function RunsDialog({ project, set, onClose }: RunsDialogProps) {
  const request = { params: { projectId: project, id: set.id }, query: { limit: 50 } };
  const runs = useQuery({ ...operationQuery(ListActionSetEvents, request), refetchInterval: 5_000 });
  return (
    <Dialog
      title={`Runs of “${isolated(set.name)}”`}
      isWide
      onClose={onClose}
      footer={
        <Button variant="primary" onPress={onClose}>
          Close
        </Button>
      }
    >
      <QueryResult query={runs}>
        {({ actionSetEvents }) =>
          actionSetEvents.length === 0 ? (
            <EmptyState title="It has not run yet">No signal has matched.</EmptyState>
          ) : (
            <Table
              label="Runs"
              rows={actionSetEvents}
              rowKey={({ id }) => id}
              columns={[
                { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
                {
                  title: 'Actions',
                  cell: ({ actionSet }) => (
                    <ol>
                      {actionSet.actions.map((action) => (
                        <li key={action.id}>
                          {actionPhrase(action)} <StateBadge state={action.state} />
                          {action.details !== undefined && <p>{inPermissionNames(action.details)}</p>}
                        </li>
                      ))}
                    </ol>
                  ),
                },
                { title: 'Signal', cell: ({ signal }) => <SignalPayload payload={signal.payload} /> },
              ]}
            />
          )
        }
      </QueryResult>
    </Dialog>
  );
}
