import { type FeatureEnvironment, strategySentence } from '@bunting/contracts';
import { IconButton } from '../../components/buttons/button.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { formatCount } from '../../text/format-number.ts';
import { Sparkline, useRecentUsage } from '../flags/recent-usage.tsx';
import type { EnvironmentFold } from './environment-folds.ts';
import styles from './flag.module.css';

/** What a flag does in an environment, in words for one line. */
function stateWords(
  { enabled, strategies = [] }: FeatureEnvironment,
  segmentNames: ReadonlyMap<number, string>,
): string {
  const active = strategies.filter(({ disabled }) => disabled !== true);
  const sentences = active.slice(0, 3).map((strategy) => strategySentence(strategy, segmentNames));
  const more = active.length > 3 ? [formatCount(active.length - 3, 'more strategy', 'more strategies')] : [];
  const words = [...sentences, ...more].join('; ');
  if (enabled) return words === '' ? 'On for nobody' : words;
  return words === '' ? 'Off' : `Off; when it is on: ${words}`;
}

interface FoldHeadProps {
  readonly feature: string;
  readonly environment: FeatureEnvironment;
  readonly isProtected: boolean;
  readonly fold: EnvironmentFold;
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** The line of an environment among many: a press opens it, and says there what the flag does. */
export function FoldHead({ feature, environment, isProtected, fold, segmentNames }: FoldHeadProps) {
  const { name, type, enabled } = environment;
  const { isOpen, isPinned } = fold;
  const usage = useRecentUsage([[{ name: feature }]], true)(feature, name);
  const words = stateWords(environment, segmentNames);
  return (
    <div className={styles['fold']}>
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          disabled={isPinned}
          title={isOpen ? undefined : words}
          onClick={fold.toggle}
        >
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
          <EnvironmentName name={name} type={type} />
        </button>
      </h3>
      {!isOpen && (
        <span className={styles['foldWords']} data-off={!enabled || undefined}>
          {words}
        </span>
      )}
      <span className={styles['foldExtras']}>
        {fold.isWaiting && (
          <span role="img" aria-label="a change waits" title={`A change request for ${name} waits`}>
            <Icon name="events" />
          </span>
        )}
        {isProtected && (
          <span role="img" aria-label="protected" title={`Edits in ${name} need a change request`}>
            <Icon name="lock" />
          </span>
        )}
        {usage !== undefined && <Sparkline yes={usage.yes} no={usage.no} />}
        <IconButton
          icon="pin"
          size="small"
          filled={isPinned}
          label={isPinned ? `Fold ${name} up with the others` : `Keep ${name} open`}
          onPress={fold.togglePin}
        />
      </span>
    </div>
  );
}
