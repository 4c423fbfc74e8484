import type { Feature, FeatureStrategy } from '@bunting/contracts';
import { type SubmittedChanges, useSubmitChanges, proposedText } from '../../changes/submit-changes.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { strategyBodyOf, strategyDraftOf } from '../../strategies/strategy-draft.ts';
import { formatCount } from '../../text/format-number.ts';

interface EnvironmentEditsOptions {
  readonly project: string;
  readonly feature: Feature['name'];
  readonly environment: string;
  readonly strategies: readonly FeatureStrategy[];
}

/** The edits of a flag in one environment. If it is protected, they are proposed in a change request, unless they are direct. */
export const useEnvironmentEdits = ({ project, feature, environment, strategies }: EnvironmentEditsOptions) => {
  const submit = useSubmitChanges(project);
  const submitChanges = (
    changes: SubmittedChanges['changes'],
    notification: string,
    { target = environment, isDirect = false }: { readonly target?: string; readonly isDirect?: boolean } = {},
  ): void =>
    submit.mutate(
      { environment: target, changes, isDirect },
      {
        onSuccess: ({ kind }) => notify(kind === 'made' ? notification : proposedText(target)),
        onError: notifyError,
      },
    );
  return {
    isPending: submit.isPending,
    setEnabled: (enabled: boolean, shouldActivateDisabledStrategies?: boolean): void => {
      const activation = shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies };
      submitChanges(
        [{ action: 'updateEnabled', feature, payload: { enabled, ...activation } }],
        enabled ? `Turned on in ${environment}.` : `Turned off in ${environment}.`,
      );
    },
    copyTo: (target: string, strategiesToCopy: readonly FeatureStrategy[]): void =>
      submitChanges(
        strategiesToCopy.map((strategy) => ({
          action: 'addStrategy' as const,
          feature,
          payload: strategyBodyOf(strategyDraftOf(strategy)),
        })),
        `${formatCount(strategiesToCopy.length, 'strategy', 'strategies')} copied to ${target}.`,
        { target },
      ),
    /** Moves the strategy at an index up (-1) or down (1) by one position. */
    move: (index: number, step: -1 | 1): void => {
      const order = strategies.map(({ id = '' }) => id);
      const [moved] = order.splice(index, 1);
      order.splice(index + step, 0, moved as string);
      const payload = order.map((id, sortOrder) => ({ id, sortOrder }));
      submitChanges([{ action: 'reorderStrategy', feature, payload }], 'The strategies have a new order.');
    },
    deleteStrategy: ({ id = '' }: FeatureStrategy, isDirect: boolean): void =>
      submitChanges([{ action: 'deleteStrategy', feature, payload: { id } }], 'The strategy is deleted.', {
        isDirect,
      }),
  };
};
