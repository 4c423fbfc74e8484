import {
  type ActionSet,
  CreateActionSet,
  DeleteActionSet,
  DisableActionSet,
  EnableActionSet,
  ListActionSetEvents,
  ListActionSets,
  UpdateActionSet,
  constraintPhrase,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useOperationMutation } from '../../../api/queries-and-mutations.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Catalogue } from '../../../components/resources/catalogue.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { actionPhrase } from '../actions/action-phrase.ts';

const loadDialog = () => import('../actions/action-set-dialog.tsx');
const ActionSetDialog = lazyPart(async () => (await loadDialog()).ActionSetDialog);
const RunsDialog = lazyPart(async () => (await import('../actions/runs-dialog.tsx')).RunsDialog);

function filtersPhrase({ match }: ActionSet): string {
  const filters = Object.entries(match.payload);
  if (filters.length === 0) return 'Every signal';
  return filters.map(([contextName, filter]) => constraintPhrase({ ...filter, contextName })).join(', and ');
}

/** What signals cause in a project: sets of actions, and their runs. */
export function ActionsTab({ project }: { readonly project: string }) {
  const sets = useQuery({
    ...operationQuery(ListActionSets, { params: { projectId: project } }),
    select: ({ actions }) => actions,
  });
  const enable = useOperationMutation(EnableActionSet, 'notified', () => notify('The actions are on.'));
  const disable = useOperationMutation(DisableActionSet, 'notified', () => notify('The actions are off.'));
  const paramsOf = ({ id }: ActionSet) => ({ params: { projectId: project, id } });
  return (
    <Catalogue
      noun="set of actions"
      label="Actions"
      scope={{ project }}
      query={sets}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      text={({ description }) => description}
      preload={loadDialog}
      columns={[
        { title: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
        { title: 'State', cell: ({ enabled }) => (enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>) },
        { title: 'When', cell: filtersPhrase },
        { title: 'Then', cell: ({ actions }) => actions.map(actionPhrase).join('; ') },
      ]}
      create={{
        operation: CreateActionSet,
        label: 'Create actions',
        dialog: (onClose) => <ActionSetDialog project={project} onClose={onClose} />,
      }}
      actions={[
        {
          id: 'runs',
          label: 'See its runs',
          operation: ListActionSetEvents,
          dialog: (set, onClose) => <RunsDialog project={project} set={set} onClose={onClose} />,
        },
        {
          id: 'edit',
          label: 'Edit',
          icon: 'edit',
          operation: UpdateActionSet,
          dialog: (set, onClose) => <ActionSetDialog project={project} set={set} onClose={onClose} />,
        },
        {
          id: 'on',
          label: 'Turn on',
          operation: EnableActionSet,
          isOffered: ({ enabled }) => !enabled,
          run: (set) => enable.mutate(paramsOf(set)),
        },
        {
          id: 'off',
          label: 'Turn off',
          operation: DisableActionSet,
          isOffered: ({ enabled }) => enabled,
          run: (set) => disable.mutate(paramsOf(set)),
        },
      ]}
      remove={{
        operation: DeleteActionSet,
        request: paramsOf,
        usage: () => <p>The list of its runs goes with it. The event log keeps its events.</p>,
      }}
      empty={{
        title: 'Signals cause nothing in this project',
        help: 'Actions switch a flag off, mark it, or propose it, as a service account, when another system sends a signal.',
      }}
    />
  );
}
