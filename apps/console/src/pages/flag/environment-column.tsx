import type { Feature, FeatureEnvironment, FeatureStrategy } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../api/permissions.ts';
import { Button, buttonClass, IconButton } from '../../components/button.tsx';
import { Badge } from '../../components/content.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { Switch } from '../../components/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { Menu } from '../../components/menu.tsx';
import { Time } from '../../components/time.tsx';
import { messages } from '../../messages.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { type ChangeToApply, useApplyChanges } from '../../strategies/apply-change.ts';
import { draftOf, signatureOf, strategyOf } from '../../strategies/strategy-draft.ts';
import { reachesEverybody, strategySentence } from '../../strategies/strategy-sentence.ts';
import styles from './flag.module.css';

interface EnvironmentColumnProps {
  readonly feature: Feature;
  readonly project: string;
  readonly environment: FeatureEnvironment;
  /** the environment that this one is compared with; none for that one itself */
  readonly reference: FeatureEnvironment | undefined;
  /** the other environments, which strategies can be copied to */
  readonly others: readonly string[];
  readonly isProtected: boolean;
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** The strategies of an environment, those that the reference alone has among them, and which are in one of both only. */
const comparedWith = (
  own: readonly FeatureStrategy[],
  reference: readonly FeatureStrategy[] | undefined,
): { readonly added: ReadonlySet<FeatureStrategy>; readonly missing: readonly FeatureStrategy[] } => {
  if (reference === undefined) return { added: new Set(), missing: [] };
  const rest = reference.map((strategy) => ({ strategy, signature: signatureOf(strategy) }));
  const added = own.filter((strategy) => {
    const at = rest.findIndex(({ signature }) => signature === signatureOf(strategy));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return { added: new Set(added), missing: rest.map(({ strategy }) => strategy) };
};

/** A feature in one environment: its state, and its strategies as sentences. */
export const EnvironmentColumn = ({
  feature,
  project,
  environment,
  reference,
  others,
  isProtected,
  segmentNames,
}: EnvironmentColumnProps) => {
  const { name, enabled, strategies = [], type, lastSeenAt, yes, no } = environment;
  const may = useMay();
  const apply = useApplyChanges(project);
  const [toDelete, setToDelete] = useState<FeatureStrategy | undefined>();
  const [isTurningOn, setTurningOn] = useState(false);
  const isArchived = feature.archived === true;
  const mayEdit = (permission: Parameters<typeof may>[0]): boolean =>
    !isArchived && (isProtected || may(permission, { project, environment: name }));

  const change = (changes: ChangeToApply['changes'], done: string, inEnvironment = name): void =>
    apply.mutate(
      { environment: inEnvironment, changes },
      {
        onSuccess: ({ kind }) => notify(kind === 'made' ? done : messages.flag.proposed(inEnvironment)),
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
      on ? messages.flag.turnedOn(name) : messages.flag.turnedOff(name),
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
        payload: strategyOf(draftOf(strategy)),
      })),
      messages.flag.copied(copied.length, target),
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
      messages.flag.reordered,
    );
  };

  const { added, missing } = comparedWith(strategies, reference?.strategies);
  const sentence = (strategy: FeatureStrategy): string => `${strategySentence(strategy, segmentNames)}.`;
  const to = { project, feature: feature.name, environment: name };

  return (
    <section className={styles['column']} aria-label={messages.flag.inEnvironment(name)}>
      <div className={styles['columnHead']}>
        <h3>
          {name}
          {type === 'production' && <Badge>{messages.flag.production}</Badge>}
          {isProtected && <Badge tone="accent">{messages.flag.protected}</Badge>}
        </h3>
        <Switch
          aria-label={messages.flag.enabledIn(name)}
          isSelected={enabled}
          isDisabled={!mayEdit('UPDATE_FEATURE_ENVIRONMENT') || apply.isPending}
          onChange={toggle}
        />
      </div>
      <p className={styles['muted']}>
        {messages.flag.lastSeen} <Time at={lastSeenAt} />
        {(yes ?? 0) + (no ?? 0) > 0 && ` · ${messages.flag.share(yes ?? 0, no ?? 0)}`}
      </p>
      {strategies.length === 0 && <p className={styles['muted']}>{messages.flag.noStrategy}</p>}
      <ol className={styles['strategies']}>
        {strategies.map((strategy, at) => (
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
                label={messages.flag.strategyActions}
                entries={[
                  {
                    id: 'up',
                    label: messages.flag.moveUp,
                    icon: 'arrowUp',
                    isDisabled: at === 0 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                    run: () => move(at, -1),
                  },
                  {
                    id: 'down',
                    label: messages.flag.moveDown,
                    icon: 'arrowDown',
                    isDisabled: at === strategies.length - 1 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
                    run: () => move(at, 1),
                  },
                  ...others.map((other) => ({
                    id: `copy-${other}`,
                    label: messages.flag.copyTo(other),
                    icon: 'copy' as const,
                    isDisabled: isArchived,
                    run: () => copyTo(other, [strategy]),
                  })),
                  {
                    id: 'delete',
                    label: messages.common.delete,
                    icon: 'remove',
                    isDisabled: !mayEdit('DELETE_FEATURE_STRATEGY'),
                    run: () => setToDelete(strategy),
                  },
                ]}
              >
                <IconButton icon="more" size="small" label={messages.flag.strategyActions} />
              </Menu>
            </div>
            <span className={styles['marks']}>
              {strategy.title != null && strategy.title !== '' && (
                <span className={styles['muted']} dir="auto">
                  {strategy.title}
                </span>
              )}
              {strategy.disabled === true && <Badge>{messages.flag.disabled}</Badge>}
              {reachesEverybody(strategy) && strategies.length > 1 && (
                <Badge tone="warning">{messages.flag.reachesEverybody}</Badge>
              )}
              {reference !== undefined && added.has(strategy) && (
                <Badge tone="accent">{messages.flag.notIn(reference.name)}</Badge>
              )}
            </span>
          </li>
        ))}
        {reference !== undefined &&
          missing.map((strategy) => (
            <li key={`missing-${strategy.id}`} className={`${styles['strategy']} ${styles['missing']}`}>
              <div className={styles['strategyHead']}>
                <span className={styles['muted']}>{sentence(strategy)}</span>
                {!isArchived && (
                  <Button size="small" variant="quiet" icon="copy" onPress={() => copyTo(name, [strategy])}>
                    {messages.flag.copyHere}
                  </Button>
                )}
              </div>
              <span className={styles['marks']}>
                {strategy.disabled === true && <Badge>{messages.flag.disabled}</Badge>}
                <Badge tone="accent">{messages.flag.onlyIn(reference.name)}</Badge>
              </span>
            </li>
          ))}
      </ol>
      {mayEdit('CREATE_FEATURE_STRATEGY') && (
        <div className={styles['marks']}>
          <Link
            to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
            params={{ ...to, strategy: 'new' }}
            className={buttonClass({ size: 'small' })}
          >
            <Icon name="add" />
            {messages.flag.addStrategy}
          </Link>
          {missing.length > 1 && (
            <Button size="small" variant="quiet" icon="copy" onPress={() => copyTo(name, missing)}>
              {messages.flag.copyAllHere(missing.length)}
            </Button>
          )}
        </div>
      )}
      {toDelete !== undefined && (
        <ConfirmDialog
          title={messages.flag.deleteStrategy}
          confirm={isProtected ? messages.flag.propose : messages.common.delete}
          isDangerous
          onClose={() => setToDelete(undefined)}
          onConfirm={() => {
            setToDelete(undefined);
            change(
              [{ action: 'deleteStrategy', feature: feature.name, payload: { id: toDelete.id ?? '' } }],
              messages.flag.strategyDeleted,
            );
          }}
        >
          <p>{sentence(toDelete)}</p>
          {strategies.length === 1 && enabled && <p>{messages.flag.lastStrategy(name)}</p>}
        </ConfirmDialog>
      )}
      {isTurningOn && (
        <ConfirmDialog
          title={messages.flag.turnOnTitle(name)}
          confirm={messages.flag.enableAll}
          onClose={() => setTurningOn(false)}
          onConfirm={() => {
            setTurningOn(false);
            setEnabled(true, true);
          }}
        >
          <p>{messages.flag.allDisabled}</p>
          <Button
            onPress={() => {
              setTurningOn(false);
              setEnabled(true, false);
            }}
          >
            {messages.flag.addDefault}
          </Button>
        </ConfirmDialog>
      )}
    </section>
  );
};
