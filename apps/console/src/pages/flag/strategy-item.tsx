import { type FeatureStrategy, reachesEverybody } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Menu, type MenuEntry } from '../../components/buttons/menu.tsx';
import { Badge } from '../../components/content/badge.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';

interface StrategyItemProps {
  readonly strategy: FeatureStrategy;
  readonly sentence: string;
  /** the path parameters of the strategy's page */
  readonly link: {
    readonly project: string;
    readonly feature: string;
    readonly environment: string;
    readonly strategy: string;
  };
  readonly actions: readonly MenuEntry[];
  /** the name of the environment that this one is compared with, if that one lacks the strategy */
  readonly missingIn: string | undefined;
  readonly isOneOfMany: boolean;
}

/** A strategy in the list of an environment: a link with its sentence, a menu of actions, and its title and badges. */
export function StrategyItem({ strategy, sentence, link, actions, missingIn, isOneOfMany }: StrategyItemProps) {
  return (
    <li className={styles['strategy']} data-disabled={strategy.disabled || undefined}>
      <div className={styles['strategyHead']}>
        <Link
          to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
          params={link}
          className={styles['sentence'] ?? ''}
        >
          {sentence}
        </Link>
        <Menu label="Actions of the strategy" entries={actions}>
          <IconButton icon="more" size="small" label="Actions of the strategy" />
        </Menu>
      </div>
      <span className={styles['badges']}>
        {strategy.title != null && strategy.title !== '' && (
          <span className={layout['small']} dir="auto">
            {strategy.title}
          </span>
        )}
        {strategy.disabled === true && <Badge>disabled</Badge>}
        {reachesEverybody(strategy) && isOneOfMany && <Badge tone="warning">everybody</Badge>}
        {missingIn !== undefined && <Badge tone="accent">not in {missingIn}</Badge>}
      </span>
    </li>
  );
}

interface ReferenceOnlyStrategyItemProps {
  readonly strategy: FeatureStrategy;
  readonly sentence: string;
  /** the name of the environment that has the strategy */
  readonly reference: string;
  readonly onCopy: (() => void) | undefined;
}

/** A strategy that an environment lacks and the one that it is compared with has. */
export function ReferenceOnlyStrategyItem({ strategy, sentence, reference, onCopy }: ReferenceOnlyStrategyItemProps) {
  return (
    <li className={`${styles['strategy']} ${styles['missing']}`}>
      <div className={styles['strategyHead']}>
        <span className={layout['small']}>{sentence}</span>
        {onCopy !== undefined && (
          <Button size="small" variant="quiet" icon="copy" onPress={onCopy}>
            Copy here
          </Button>
        )}
      </div>
      <span className={styles['badges']}>
        {strategy.disabled === true && <Badge>disabled</Badge>}
        <Badge tone="accent">only in {reference}</Badge>
      </span>
    </li>
  );
}
