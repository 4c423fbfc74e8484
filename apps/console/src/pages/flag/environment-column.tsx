import type { Feature, FeatureEnvironment, FeatureStrategy } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { Button, buttonClass, IconButton } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { Switch } from '../../components/forms/fields.tsx';
import { Icon } from '../../components/buttons/icon.tsx';
import { Menu } from '../../components/buttons/menu.tsx';
import { Time } from '../../components/content/time.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { protectionMessages } from '../../messages/protection.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { type SubmittedChanges, useSubmitChanges } from '../../changes/submit-changes.ts';
import { SkipChangeRequestNotice } from '../../changes/protection-notices.tsx';
import { useEditProtection } from '../../changes/use-edit-protection.ts';
import { strategyDraftOf, strategyFingerprint, strategyBodyOf } from '../../strategies/strategy-draft.ts';
import { reachesEverybody, strategySentence } from '../../messages/sentences/strategy-sentence.ts';
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

/** The strategies of an environment, those that the reference alone has among them, and which are in one of both only. */
const comparedWith = (
  own: readonly FeatureStrategy[],
  reference: readonly FeatureStrategy[] | undefined,
): { readonly added: ReadonlySet<FeatureStrategy>; readonly missing: readonly FeatureStrategy[] } => {
  if (reference === undefined) return { added: new Set(), missing: [] };
  const rest = new Map<string, FeatureStrategy[]>();
  for (const strategy of reference) {
    const fingerprint = strategyFingerprint(strategy);
    rest.set(fingerprint, [...(rest.get(fingerprint) ?? []), strategy]);
  }
  const added = own.filter((strategy) => rest.get(strategyFingerprint(strategy))?.shift() === undefined);
  return { added: new Set(added), missing: [...rest.values()].flat() };
};

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
  const apply = useSubmitChanges(project);
  const protection = useEditProtection(project, name);
  const isProtected = protection.environments.length > 0;
  const [toDelete, setToDelete] = useState<FeatureStrategy | undefined>();
  const [isTurningOn, setTurningOn] = useState(false);
  const [showsAll, setShowsAll] = useState(false);
  const isArchived = feature.archived === true;
  const mayEdit = (permission: Parameters<typeof may>[0]): boolean =>
    !isArchived && (isProtected || may(permission, { project, environment: name }));

  const change = (changes: SubmittedChanges['changes'], done: string, inEnvironment = name, isDirect = false): void =>
    apply.mutate(
      { environment: inEnvironment, changes, isDirect },
      {
        onSuccess: ({ kind }) => notify(kind === 'made' ? done : flagMessages.proposed(inEnvironment)),
        onError: notifyError,
      },
    );
  const setEnabled = (on: boolean, shouldActivateDisabledStrategies?: boolean): void =>
    change(
      [
        {
          action: 'updateEnabled',
          feature: feature.name,
          payload: {
            enabled: on,
            ...(shouldActivateDisabledStrategies === undefined ? {} : { shouldActivateDisabledStrategies }),
          },
        },
      ],
      on ? flagMessages.turnedOn(name) : flagMessages.turnedOff(name),
    );
  const toggle = (on: boolean): void => {
    const isInactive = strategies.length > 0 && strategies.every(({ disabled }) => disabled === true);
    if (on && isInactive) setTurningOn(true);
    else setEnabled(on);
  };
  const copyTo = (target: string, copied: readonly FeatureStrategy[]): void =>
    change(
      copied.map((strategy) => ({
        action: 'addStrategy' as const,
        feature: feature.name,
        payload: strategyBodyOf(strategyDraftOf(strategy)),
      })),
      flagMessages.copied(copied.length, target),
      target,
    );
  const move = (at: number, by: -1 | 1): void => {
    const order = strategies.map(({ id = '' }) => id);
    const [moved] = order.splice(at, 1);
    order.splice(at + by, 0, moved as string);
    change(
      [
        {
          action: 'reorderStrategy',
          feature: feature.name,
          payload: order.map((id, sortOrder) => ({ id, sortOrder })),
        },
      ],
      flagMessages.reordered,
    );
  };

  const deleteStrategy = (isDirect: boolean): void => {
    setToDelete(undefined);
    const payload = { id: toDelete?.id ?? '' };
    const changes = [{ action: 'deleteStrategy' as const, feature: feature.name, payload }];
    change(changes, flagMessages.strategyDeleted, name, isDirect);
  };

  const { added, missing } = useMemo(
    () => comparedWith(environment.strategies ?? [], reference?.strategies),
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
          isDisabled={!mayEdit('UPDATE_FEATURE_ENVIRONMENT') || apply.isPending}
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
          <li key={strategy.id} className={styles['strategy']} data-disabled={strategy.disabled || undefined}>
            <div className={styles['strategyHead']}>
              <Link
                to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
                params={{ ...to, strategy: strategy.id ?? '' }}
                className={styles['sentence'] ?? ''}
              >
                {sentence(strategy)}
              </Link>
              <Menu
                label={flagMessages.strategyActions}
                entries={[
                  {
                    id: 'up',
                    label: flagMessages.moveUp,
                    icon: 'arrowUp',
                    isDisabled: at === 0 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                    run: () => move(at, -1),
                  },
                  {
                    id: 'down',
                    label: flagMessages.moveDown,
                    icon: 'arrowDown',
                    isDisabled: at === strategies.length - 1 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                    run: () => move(at, 1),
                  },
                  ...others.map((other) => ({
                    id: `copy-${other}`,
                    label: flagMessages.copyTo(other),
                    icon: 'copy' as const,
                    isDisabled: isArchived,
                    run: () => copyTo(other, [strategy]),
                  })),
                  {
                    id: 'delete',
                    label: sharedMessages.common.delete,
                    icon: 'remove',
                    isDisabled: !mayEdit('DELETE_FEATURE_STRATEGY'),
                    run: () => setToDelete(strategy),
                  },
                ]}
              >
                <IconButton icon="more" size="small" label={flagMessages.strategyActions} />
              </Menu>
            </div>
            <span className={styles['marks']}>
              {strategy.title != null && strategy.title !== '' && (
                <span className={layout['small']} dir="auto">
                  {strategy.title}
                </span>
              )}
              {strategy.disabled === true && <Badge>{flagMessages.disabled}</Badge>}
              {reachesEverybody(strategy) && strategies.length > 1 && (
                <Badge tone="warning">{flagMessages.reachesEverybody}</Badge>
              )}
              {reference !== undefined && added.has(strategy) && (
                <Badge tone="accent">{flagMessages.notIn(reference.name)}</Badge>
              )}
            </span>
          </li>
        ))}
        {reference !== undefined &&
          missing.slice(0, shown).map((strategy) => (
            <li key={`missing-${strategy.id}`} className={`${styles['strategy']} ${styles['missing']}`}>
              <div className={styles['strategyHead']}>
                <span className={layout['small']}>{sentence(strategy)}</span>
                {!isArchived && (
                  <Button size="small" variant="quiet" icon="copy" onPress={() => copyTo(name, [strategy])}>
                    {flagMessages.copyHere}
                  </Button>
                )}
              </div>
              <span className={styles['marks']}>
                {strategy.disabled === true && <Badge>{flagMessages.disabled}</Badge>}
                <Badge tone="accent">{flagMessages.onlyIn(reference.name)}</Badge>
              </span>
            </li>
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
            <Button size="small" variant="quiet" icon="copy" onPress={() => copyTo(name, missing)}>
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
          onConfirm={() => deleteStrategy(false)}
        >
          <p>{sentence(toDelete)}</p>
          {strategies.length === 1 && enabled && <p>{flagMessages.lastStrategy(name)}</p>}
          <SkipChangeRequestNotice
            protection={protection}
            isPending={apply.isPending}
            label={protectionMessages.deleteDirectly}
            onDirect={() => deleteStrategy(true)}
          />
        </ConfirmDialog>
      )}
      {isTurningOn && (
        <ConfirmDialog
          title={flagMessages.turnOnTitle(name)}
          confirm={flagMessages.enableAll}
          onClose={() => setTurningOn(false)}
          onConfirm={() => {
            setTurningOn(false);
            setEnabled(true, true);
          }}
        >
          <p>{flagMessages.allDisabled}</p>
          <Button
            onPress={() => {
              setTurningOn(false);
              setEnabled(true, false);
            }}
          >
            {flagMessages.addDefault}
          </Button>
        </ConfirmDialog>
      )}
    </section>
  );
};
