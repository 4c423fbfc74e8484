import {
  type Feature,
  type FeatureEnvironment,
  type FeatureStrategy,
  type Permission,
  strategySentence,
} from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import {
  type EditProtection,
  SkipChangeRequestNotice,
  useEditProtection,
  useMayEdit,
} from '../../changes/edit-protection.tsx';
import { notifySubmitted, type SubmittedChanges, useSubmitChanges } from '../../changes/submit-changes.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import type { MenuEntry } from '../../components/buttons/menu.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { EnvironmentName, useEnvironmentMark } from '../../components/environments/environment-name.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { lazyPart } from '../../components/content/lazy-part.tsx';
import { Time } from '../../components/content/time.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { Switch } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { usePageActions } from '../../shell/page-actions.ts';
import { notifyError } from '../../shell/toasts.tsx';
import { strategyBodyOf, strategyDraftOf, strategyFingerprint } from '../../strategies/strategy-draft.ts';
import { formatCount } from '../../text/format-number.ts';
import styles from './flag.module.css';
import type { EnvironmentFold } from './environment-folds.ts';
import { ReferenceOnlyStrategyItem, StrategyItem } from './strategy-item.tsx';
import { unbroken } from '../../text/unbroken.ts';

/**
 * Compares the strategies of an environment with those of a reference by their content: `added` are in the environment only, `missing` in
 * the reference only. Without a reference both are empty.
 */
function differencesToReference(
  own: readonly FeatureStrategy[],
  reference: readonly FeatureStrategy[] | undefined,
): { readonly added: ReadonlySet<FeatureStrategy>; readonly missing: readonly FeatureStrategy[] } {
  if (reference === undefined) return { added: new Set(), missing: [] };
  const unmatched = new Map<string, FeatureStrategy[]>();
  for (const strategy of reference) {
    const fingerprint = strategyFingerprint(strategy);
    unmatched.set(fingerprint, [...(unmatched.get(fingerprint) ?? []), strategy]);
  }
  const added = own.filter((strategy) => unmatched.get(strategyFingerprint(strategy))?.shift() === undefined);
  return { added: new Set(added), missing: [...unmatched.values()].flat() };
}

interface EnableDisabledStrategiesDialogProps {
  readonly environment: string;
  readonly onClose: () => void;
  readonly onEnable: (shouldActivateDisabledStrategies: boolean) => void;
}

/** Asks how to turn a flag on where all of its strategies are disabled: by enabling them, or by adding a default strategy. */
function EnableDisabledStrategiesDialog({ environment, onClose, onEnable }: EnableDisabledStrategiesDialogProps) {
  return (
    <ConfirmDialog
      title={`Turn on in ${environment}`}
      confirm="Enable all strategies"
      onClose={onClose}
      onConfirm={() => onEnable(true)}
    >
      <p>All strategies are disabled here, so the flag would be on for no user.</p>
      <Button onPress={() => onEnable(false)}>Add a strategy for everybody instead</Button>
    </ConfirmDialog>
  );
}

interface EnvironmentEditsOptions {
  readonly project: string;
  readonly feature: Feature['name'];
  readonly environment: string;
  readonly strategies: readonly FeatureStrategy[];
}

/** The edits of a flag in one environment. If it is protected, they are proposed in a change request, unless they are direct. */
function useEnvironmentEdits({ project, feature, environment, strategies }: EnvironmentEditsOptions) {
  const submit = useSubmitChanges(project);
  const submitChanges = (
    changes: SubmittedChanges['changes'],
    notification: string,
    { target = environment, isDirect = false }: { readonly target?: string; readonly isDirect?: boolean } = {},
  ): void =>
    submit.mutate(
      { environment: target, changes, isDirect },
      {
        onSuccess: (outcome) => notifySubmitted(outcome, notification),
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
}

const texts = {
  share: (yes: number, no: number) => `${Math.round((yes / (yes + no)) * 100)} % yes in the last hour`,
} as const;

type EnvironmentEdits = ReturnType<typeof useEnvironmentEdits>;

/** Maximum strategies of one environment until the user expands the list. */
const maxShownStrategies = 50;
/** Beside more environments than this, what one lacks is folded up. */
const maxOthersWithDifferences = 5;

// Only among many environments.
const FoldHead = lazyPart(() => import('./fold-head.tsx').then(({ FoldHead }) => FoldHead));

interface ColumnHeadProps {
  readonly feature: Feature['name'];
  readonly environment: FeatureEnvironment;
  readonly isProtected: boolean;
  readonly isSwitchDisabled: boolean;
  readonly edits: EnvironmentEdits;
  readonly fold: EnvironmentFold | undefined;
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** The name and state of an environment with its switch, and the last evaluations of the flag there. */
function ColumnHead({
  feature,
  environment,
  isProtected,
  isSwitchDisabled,
  edits,
  fold,
  segmentNames,
}: ColumnHeadProps) {
  const { name, enabled, strategies = [], type, lastSeenAt, yes, no } = environment;
  const [isAskingHowToEnable, setAskingHowToEnable] = useState(false);
  const setEnabled = (isOn: boolean): void => {
    const areAllDisabled = strategies.length > 0 && strategies.every(({ disabled }) => disabled === true);
    if (isOn && areAllDisabled) setAskingHowToEnable(true);
    else edits.setEnabled(isOn);
  };
  const turn = `${enabled ? 'off' : 'on'} in ${name}`;
  usePageActions(
    isSwitchDisabled
      ? []
      : [
          {
            id: `flag.enabled.${name}`,
            title: isProtected ? `Propose to turn ${turn}` : `Turn ${turn}`,
            run: () => setEnabled(!enabled),
          },
        ],
  );
  return (
    <>
      <div className={styles['columnHead']}>
        {fold === undefined ? (
          <h3>
            <EnvironmentName name={name} type={type} />
            {isProtected && <Badge tone="accent">protected</Badge>}
          </h3>
        ) : (
          <Suspense
            fallback={
              // As high as what comes.
              <div className={styles['fold']}>
                <h3>
                  <EnvironmentName name={name} type={type} />
                </h3>
                {!fold.isOpen && <span className={styles['foldWords']}>{'\u00a0'}</span>}
              </div>
            }
          >
            <FoldHead
              feature={feature}
              environment={environment}
              isProtected={isProtected}
              fold={fold}
              segmentNames={segmentNames}
            />
          </Suspense>
        )}
        <Switch
          aria-label={`Enabled in ${name}`}
          isSelected={enabled}
          isDisabled={isSwitchDisabled}
          onChange={setEnabled}
        />
      </div>
      {fold?.isOpen !== false && (
        <p className={layout['small']}>
          {lastSeenAt == null ? (
            'Not seen yet'
          ) : (
            <>
              Last seen <Time at={lastSeenAt} />
            </>
          )}
          {(yes ?? 0) + (no ?? 0) > 0 && ` · ${texts.share(yes ?? 0, no ?? 0)}`}
        </p>
      )}
      {isAskingHowToEnable && (
        <EnableDisabledStrategiesDialog
          environment={name}
          onClose={() => setAskingHowToEnable(false)}
          onEnable={(shouldActivateDisabledStrategies) => {
            setAskingHowToEnable(false);
            edits.setEnabled(true, shouldActivateDisabledStrategies);
          }}
        />
      )}
    </>
  );
}

interface DeleteStrategyDialogProps {
  readonly sentence: string;
  /** the name of the environment, if the flag is turned off there because no strategy is left */
  readonly turnsOffIn: string | undefined;
  readonly protection: EditProtection;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onDelete: (isDirect: boolean) => void;
}

function DeleteStrategyDialog({
  sentence,
  turnsOffIn,
  protection,
  isPending,
  onClose,
  onDelete,
}: DeleteStrategyDialogProps) {
  return (
    <ConfirmDialog
      title="Delete this strategy?"
      confirm={protection.environments.length > 0 ? 'Propose' : 'Delete'}
      isDangerous
      onClose={onClose}
      onConfirm={() => onDelete(false)}
    >
      <p>{sentence}</p>
      {turnsOffIn !== undefined && <p>It is the last strategy: the flag is turned off in {turnsOffIn}.</p>}
      <SkipChangeRequestNotice
        protection={protection}
        isPending={isPending}
        label="Delete directly"
        onDirect={() => onDelete(true)}
      />
    </ConfirmDialog>
  );
}

interface EnvironmentColumnProps {
  readonly feature: Feature;
  readonly project: string;
  readonly environment: FeatureEnvironment;
  /** the environment that this one is compared with; undefined for that one itself */
  readonly reference: FeatureEnvironment | undefined;
  /** the names of the other environments, to which strategies can be copied */
  readonly others: readonly string[];
  readonly segmentNames: ReadonlyMap<number, string>;
  /** undefined where the environments stand side by side */
  readonly fold: EnvironmentFold | undefined;
}

/** A flag in one environment: its state, and its strategies as sentences, compared with those of a reference environment. */
export function EnvironmentColumn({
  feature,
  project,
  environment,
  reference,
  others,
  segmentNames,
  fold,
}: EnvironmentColumnProps) {
  const { name, enabled, strategies = [], variants = [] } = environment;
  const mayEditIn = useMayEdit(project);
  const edits = useEnvironmentEdits({ project, feature: feature.name, environment: name, strategies });
  const protection = useEditProtection(project, name);
  const isProtected = protection.environments.length > 0;
  const [strategyToDelete, setStrategyToDelete] = useState<FeatureStrategy | undefined>();
  const [showsAll, setShowsAll] = useState(false);
  const isArchived = feature.archived === true;
  const mayEdit = (permission: Permission, place = name): boolean => !isArchived && mayEditIn(permission, place);

  // Where there is no strategy, turning the flag on adds one.
  const addsStrategy = !enabled && strategies.length === 0;
  const mayToggle = mayEdit('UPDATE_FEATURE_ENVIRONMENT') && (!addsStrategy || mayEdit('CREATE_FEATURE_STRATEGY'));

  const { added, missing } = useMemo(
    () => differencesToReference(environment.strategies ?? [], reference?.strategies),
    [environment, reference],
  );
  const maxShown = showsAll ? Number.POSITIVE_INFINITY : maxShownStrategies;
  const hiddenCount = Math.max(0, strategies.length - maxShown) + Math.max(0, missing.length - maxShown);
  const sentence = (strategy: FeatureStrategy): string => unbroken(`${strategySentence(strategy, segmentNames)}.`);
  const linkParams = { project, feature: feature.name, environment: name };
  const actionsOf = (strategy: FeatureStrategy, index: number): readonly MenuEntry[] => [
    {
      id: 'up',
      label: 'Move up',
      icon: 'arrowUp',
      isDisabled: index === 0 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
      run: () => edits.move(index, -1),
    },
    {
      id: 'down',
      label: 'Move down',
      icon: 'arrowDown',
      isDisabled: index === strategies.length - 1 || !mayEdit('UPDATE_FEATURE_STRATEGY'),
      run: () => edits.move(index, 1),
    },
    ...others.map((other) => ({
      id: `copy-${other}`,
      label: `Copy to ${other}`,
      icon: 'copy' as const,
      isDisabled: !mayEdit('CREATE_FEATURE_STRATEGY', other),
      run: () => edits.copyTo(other, [strategy]),
    })),
    {
      id: 'delete',
      label: 'Delete',
      icon: 'remove',
      isDisabled: !mayEdit('DELETE_FEATURE_STRATEGY'),
      run: () => setStrategyToDelete(strategy),
    },
  ];

  // Beside many environments the differences of each would bury what it has.
  const areMissingFew = others.length < maxOthersWithDifferences;
  const missingItems =
    reference !== undefined &&
    missing
      .slice(0, maxShown)
      .map((strategy) => (
        <ReferenceOnlyStrategyItem
          key={`missing-${strategy.id}`}
          strategy={strategy}
          sentence={sentence(strategy)}
          reference={reference.name}
          onCopy={mayEdit('CREATE_FEATURE_STRATEGY') ? () => edits.copyTo(name, [strategy]) : undefined}
        />
      ));
  const { color } = useEnvironmentMark(environment);
  return (
    <section
      className={styles['column']}
      aria-label={`The flag in ${name}`}
      data-environment-color={color}
      data-folded={fold?.isOpen === false || undefined}
    >
      <ColumnHead
        feature={feature.name}
        environment={environment}
        isProtected={isProtected}
        isSwitchDisabled={!mayToggle || edits.isPending}
        edits={edits}
        fold={fold}
        segmentNames={segmentNames}
      />
      {fold?.isOpen !== false && (
        <>
          {strategies.length === 0 && (
            <p className={layout['small']}>No strategy: turned on, the flag gets the default of the project.</p>
          )}
          <ol className={styles['strategies']}>
            {strategies.slice(0, maxShown).map((strategy, index) => (
              <StrategyItem
                key={strategy.id}
                strategy={strategy}
                sentence={sentence(strategy)}
                link={{ ...linkParams, strategy: strategy.id ?? '' }}
                missingIn={added.has(strategy) ? reference?.name : undefined}
                isOneOfMany={strategies.length > 1}
                actions={actionsOf(strategy, index)}
              />
            ))}
            {areMissingFew && missingItems}
          </ol>
          {!areMissingFew && missing.length > 0 && (
            <details>
              <summary className={layout['small']}>
                <span>
                  {formatCount(missing.length, 'strategy', 'strategies')} only in {reference?.name}
                </span>
              </summary>
              <ol className={styles['strategies']}>{missingItems}</ol>
            </details>
          )}
          {hiddenCount > 0 && (
            <div>
              <Button size="small" onPress={() => setShowsAll(true)}>
                Show {formatCount(hiddenCount, 'more strategy', 'more strategies')}
              </Button>
            </div>
          )}
          {variants.length > 0 && (
            <p className={layout['small']}>
              Variants of the flag here:{' '}
              {variants.map(({ name: variant, weight }) => `${variant} (${weight / 10} %)`).join(', ')}
            </p>
          )}
          {mayEdit('CREATE_FEATURE_STRATEGY') && (
            <div className={styles['badges']}>
              <Link
                to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
                params={{ ...linkParams, strategy: 'new' }}
                className={buttonClass({ size: 'small' })}
              >
                <Icon name="add" />
                Add a strategy
              </Link>
              {missing.length > 1 && (
                <Button size="small" variant="quiet" icon="copy" onPress={() => edits.copyTo(name, missing)}>
                  Copy all {missing.length} here
                </Button>
              )}
            </div>
          )}
        </>
      )}
      {strategyToDelete !== undefined && (
        <DeleteStrategyDialog
          sentence={sentence(strategyToDelete)}
          turnsOffIn={strategies.length === 1 && enabled ? name : undefined}
          protection={protection}
          isPending={edits.isPending}
          onClose={() => setStrategyToDelete(undefined)}
          onDelete={(isDirect) => {
            setStrategyToDelete(undefined);
            edits.deleteStrategy(strategyToDelete, isDirect);
          }}
        />
      )}
    </section>
  );
}
