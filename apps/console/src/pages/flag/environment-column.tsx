import type { Feature, FeatureEnvironment, FeatureStrategy } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { Switch } from '../../components/forms/fields.tsx';
import { Icon } from '../../components/buttons/icon.tsx';
import { Time } from '../../components/content/time.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { protectionMessages } from '../../messages/protection.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { SkipChangeRequestNotice } from '../../changes/protection-notices.tsx';
import { useEditProtection } from '../../changes/use-edit-protection.ts';
import { strategySentence } from '../../messages/sentences/strategy-sentence.ts';
import { compareStrategies } from './compare-strategies.ts';
import { EnableDisabledStrategiesDialog } from './enable-disabled-strategies-dialog.tsx';
import { MissingStrategyItem, StrategyItem } from './strategy-item.tsx';
import { useEnvironmentEdits } from './use-environment-edits.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';

interface EnvironmentColumnProps {
  readonly feature: Feature;
  readonly project: string;
  readonly environment: FeatureEnvironment;
  /** the environment that this one is compared with; none for that one itself */
  readonly reference: FeatureEnvironment | undefined;
  /** the other environments, which strategies can be copied to */
  readonly others: readonly string[];
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** Maximum strategies of one environment until the user expands the list. */
const shownAtFirst = 50;

/** A feature in one environment: its state, and its strategies as sentences. */
export const EnvironmentColumn = ({
  feature,
  project,
  environment,
  reference,
  others,
  segmentNames,
}: EnvironmentColumnProps) => {
  const { name, enabled, strategies = [], variants = [], type, lastSeenAt, yes, no } = environment;
  const may = usePermissionCheck();
  const edits = useEnvironmentEdits({ project, feature: feature.name, environment: name, strategies });
  const protection = useEditProtection(project, name);
  const isProtected = protection.environments.length > 0;
  const [toDelete, setToDelete] = useState<FeatureStrategy | undefined>();
  const [isTurningOn, setTurningOn] = useState(false);
  const [showsAll, setShowsAll] = useState(false);
  const isArchived = feature.archived === true;
  const mayEdit = (permission: Parameters<typeof may>[0]): boolean =>
    !isArchived && (isProtected || may(permission, { project, environment: name }));

  const toggle = (on: boolean): void => {
    const isInactive = strategies.length > 0 && strategies.every(({ disabled }) => disabled === true);
    if (on && isInactive) setTurningOn(true);
    else edits.setEnabled(on);
  };
  const deleteStrategy = (strategy: FeatureStrategy, isDirect: boolean): void => {
    setToDelete(undefined);
    edits.deleteStrategy(strategy, isDirect);
  };

  const { added, missing } = useMemo(
    () => compareStrategies(environment.strategies ?? [], reference?.strategies),
    [environment, reference],
  );
  const shown = showsAll ? Number.POSITIVE_INFINITY : shownAtFirst;
  const hidden = Math.max(0, strategies.length - shown) + Math.max(0, missing.length - shown);
  const sentence = (strategy: FeatureStrategy): string => `${strategySentence(strategy, segmentNames)}.`;
  const to = { project, feature: feature.name, environment: name };

  return (
    <section className={styles['column']} aria-label={flagMessages.inEnvironment(name)}>
      <div className={styles['columnHead']}>
        <h3>
          {name}
          {type === 'production' && name !== type && <Badge>{flagMessages.production}</Badge>}
          {isProtected && <Badge tone="accent">{flagMessages.protected}</Badge>}
        </h3>
        <Switch
          aria-label={flagMessages.enabledIn(name)}
          isSelected={enabled}
          isDisabled={!mayEdit('UPDATE_FEATURE_ENVIRONMENT') || edits.isPending}
          onChange={toggle}
        />
      </div>
      <p className={layout['small']}>
        {flagMessages.lastSeen} <Time at={lastSeenAt} />
        {(yes ?? 0) + (no ?? 0) > 0 && ` · ${flagMessages.share(yes ?? 0, no ?? 0)}`}
      </p>
      {strategies.length === 0 && <p className={layout['small']}>{flagMessages.noStrategy}</p>}
      <ol className={styles['strategies']}>
        {strategies.slice(0, shown).map((strategy, at) => (
          <StrategyItem
            key={strategy.id}
            strategy={strategy}
            sentence={sentence(strategy)}
            link={{ ...to, strategy: strategy.id ?? '' }}
            notIn={added.has(strategy) ? reference?.name : undefined}
            isOneOfMany={strategies.length > 1}
            actions={[
              {
                id: 'up',
                label: flagMessages.moveUp,
                icon: 'arrowUp',
                isDisabled: at === 0 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                run: () => edits.move(at, -1),
              },
              {
                id: 'down',
                label: flagMessages.moveDown,
                icon: 'arrowDown',
                isDisabled: at === strategies.length - 1 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                run: () => edits.move(at, 1),
              },
              ...others.map((other) => ({
                id: `copy-${other}`,
                label: flagMessages.copyTo(other),
                icon: 'copy' as const,
                isDisabled: isArchived,
                run: () => edits.copyTo(other, [strategy]),
              })),
              {
                id: 'delete',
                label: sharedMessages.common.delete,
                icon: 'remove',
                isDisabled: !mayEdit('DELETE_FEATURE_STRATEGY'),
                run: () => setToDelete(strategy),
              },
            ]}
          />
        ))}
        {reference !== undefined &&
          missing
            .slice(0, shown)
            .map((strategy) => (
              <MissingStrategyItem
                key={`missing-${strategy.id}`}
                strategy={strategy}
                sentence={sentence(strategy)}
                reference={reference.name}
                onCopy={isArchived ? undefined : () => edits.copyTo(name, [strategy])}
              />
            ))}
      </ol>
      {hidden > 0 && (
        <div>
          <Button size="small" onPress={() => setShowsAll(true)}>
            {flagMessages.showMore(hidden)}
          </Button>
        </div>
      )}
      {variants.length > 0 && (
        <p className={layout['small']}>
          {flagMessages.variants}{' '}
          {variants.map(({ name: variant, weight }) => flagMessages.variantShare(variant, weight)).join(', ')}
        </p>
      )}
      {mayEdit('CREATE_FEATURE_STRATEGY') && (
        <div className={styles['marks']}>
          <Link
            to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
            params={{ ...to, strategy: 'new' }}
            className={buttonClass({ size: 'small' })}
          >
            <Icon name="add" />
            {flagMessages.addStrategy}
          </Link>
          {missing.length > 1 && (
            <Button size="small" variant="quiet" icon="copy" onPress={() => edits.copyTo(name, missing)}>
              {flagMessages.copyAllHere(missing.length)}
            </Button>
          )}
        </div>
      )}
      {toDelete !== undefined && (
        <ConfirmDialog
          title={flagMessages.deleteStrategy}
          confirm={isProtected ? flagMessages.propose : sharedMessages.common.delete}
          isDangerous
          onClose={() => setToDelete(undefined)}
          onConfirm={() => deleteStrategy(toDelete, false)}
        >
          <p>{sentence(toDelete)}</p>
          {strategies.length === 1 && enabled && <p>{flagMessages.lastStrategy(name)}</p>}
          <SkipChangeRequestNotice
            protection={protection}
            isPending={edits.isPending}
            label={protectionMessages.deleteDirectly}
            onDirect={() => deleteStrategy(toDelete, true)}
          />
        </ConfirmDialog>
      )}
      {isTurningOn && (
        <EnableDisabledStrategiesDialog
          environment={name}
          onClose={() => setTurningOn(false)}
          onEnable={(shouldActivateDisabledStrategies) => {
            setTurningOn(false);
            edits.setEnabled(true, shouldActivateDisabledStrategies);
          }}
        />
      )}
    </section>
  );
};
