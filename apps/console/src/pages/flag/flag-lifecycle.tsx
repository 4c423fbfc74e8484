import { CompleteFeature, type Feature, GetLifecycle, UncompleteFeature } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { IconButton } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { Time } from '../../components/content/time.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import styles from './flag.module.css';

interface LifecycleProps {
  readonly feature: Feature;
  readonly project: string;
}

/** The lifecycle stages that a flag has entered, and a menu that marks it as completed or takes that back. */
export const FlagLifecycle = ({ feature: { name, archived }, project }: LifecycleProps) => {
  const params = { projectId: project, featureName: name };
  const query = useQuery(operationQuery(GetLifecycle, { params }));
  const complete = useOperationMutation(CompleteFeature, 'handled');
  const uncomplete = useOperationMutation(UncompleteFeature, 'handled');
  const mayEdit = usePermissionCheck()('UPDATE_FEATURE', { project }) && archived !== true;
  const options = { onSuccess: () => notify(flagMessages.saved), onError: notifyError };
  return (
    <QueryResult query={query}>
      {(stages) => {
        const isCompleted = stages.some(({ stage }) => stage === 'completed');
        return (
          <section className={styles['section']}>
            <div className={styles['sectionHead']}>
              <h3>{flagMessages.lifecycle}</h3>
              {mayEdit && (
                <Menu
                  label={flagMessages.complete}
                  entries={
                    isCompleted
                      ? [
                          {
                            id: 'uncomplete',
                            label: flagMessages.notCompleted,
                            run: () => uncomplete.mutate({ params, ifMatch: undefined }, options),
                          },
                        ]
                      : (['kept', 'discarded'] as const).map((status) => ({
                          id: status,
                          label: flagMessages.completeAs[status],
                          run: () => complete.mutate({ params, body: { status }, ifMatch: undefined }, options),
                        }))
                  }
                >
                  <IconButton icon="edit" size="small" label={flagMessages.complete} />
                </Menu>
              )}
            </div>
            <ol className={styles['links']}>
              {stages.map(({ stage, status, enteredStageAt }) => (
                <li key={stage} className={styles['stage']}>
                  <span>
                    {flagMessages.lifecycleStages[stage] ?? stage}{' '}
                    {status === 'kept' || status === 'discarded' ? (
                      <Badge>{flagMessages.completedAs[status]}</Badge>
                    ) : null}
                  </span>
                  <Time at={enteredStageAt} isAbsolute />
                </li>
              ))}
            </ol>
          </section>
        );
      }}
    </QueryResult>
  );
};
