import { CompleteFeature, type Feature, GetLifecycle, UncompleteFeature } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { IconButton } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { Time } from '../../components/content/time.tsx';
import { notify, notifyError } from '../../shell/toasts.tsx';
import styles from './flag.module.css';

const texts = {
  completeAs: { kept: 'Completed: the code keeps it', discarded: 'Completed: the code drops it' },
  lifecycleStages: {
    initial: 'Created',
    'pre-live': 'Used outside of production',
    live: 'Used in production',
    completed: 'Completed',
    archived: 'Archived',
  } as Readonly<Record<string, string>>,
  completedAs: { kept: 'kept', discarded: 'discarded' },
} as const;

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
  const options = { onSuccess: () => notify('Saved.'), onError: notifyError };
  return (
    <QueryResult query={query}>
      {(stages) => {
        const isCompleted = stages.some(({ stage }) => stage === 'completed');
        return (
          <section className={styles['section']}>
            <div className={styles['sectionHead']}>
              <h3>Lifecycle</h3>
              {mayEdit && (
                <Menu
                  label="Complete the flag"
                  entries={
                    isCompleted
                      ? [
                          {
                            id: 'uncomplete',
                            label: 'Not completed after all',
                            run: () => uncomplete.mutate({ params, ifMatch: undefined }, options),
                          },
                        ]
                      : (['kept', 'discarded'] as const).map((status) => ({
                          id: status,
                          label: texts.completeAs[status],
                          run: () => complete.mutate({ params, body: { status }, ifMatch: undefined }, options),
                        }))
                  }
                >
                  <IconButton icon="edit" size="small" label="Complete the flag" />
                </Menu>
              )}
            </div>
            <ol className={styles['links']}>
              {stages.map(({ stage, status, enteredStageAt }) => (
                <li key={stage} className={styles['stage']}>
                  <span>
                    {texts.lifecycleStages[stage] ?? stage}{' '}
                    {status === 'kept' || status === 'discarded' ? <Badge>{texts.completedAs[status]}</Badge> : null}
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
