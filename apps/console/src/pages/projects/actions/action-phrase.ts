import type { Action, ActionKind } from '@bunting/contracts';

/** What each action does, as a choice. */
export const actionLabels: Readonly<Record<ActionKind, string>> = {
  TOGGLE_FEATURE_OFF: 'Switch a flag off',
  TOGGLE_FEATURE_ON: 'Switch a flag on',
  PROPOSE_FEATURE_OFF: 'Propose to switch a flag off',
  PROPOSE_FEATURE_ON: 'Propose to switch a flag on',
  MARK_FEATURE_STALE: 'Mark a flag as stale',
  TAG_FEATURE: 'Tag a flag',
  ARCHIVE_FEATURE: 'Archive a flag',
};

const phrases: Readonly<Record<ActionKind, (flag: string, environment: string, tag: string) => string>> = {
  TOGGLE_FEATURE_OFF: (flag, environment) => `Switch ${flag} off in ${environment}`,
  TOGGLE_FEATURE_ON: (flag, environment) => `Switch ${flag} on in ${environment}`,
  PROPOSE_FEATURE_OFF: (flag, environment) => `Propose to switch ${flag} off in ${environment}`,
  PROPOSE_FEATURE_ON: (flag, environment) => `Propose to switch ${flag} on in ${environment}`,
  MARK_FEATURE_STALE: (flag) => `Mark ${flag} as stale`,
  TAG_FEATURE: (flag, _environment, tag) => `Tag ${flag} with ${tag}`,
  ARCHIVE_FEATURE: (flag) => `Archive ${flag}`,
};

/** An action as a sentence without a full stop. */
export function actionPhrase({ action, executionParams }: Pick<Action, 'action' | 'executionParams'>): string {
  const { featureName, environment, type, value } = executionParams as Readonly<Record<string, string | undefined>>;
  return phrases[action](featureName ?? '', environment ?? '', `${type ?? ''}:${value ?? ''}`);
}
