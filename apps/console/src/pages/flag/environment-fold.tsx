import { type Feature, type FeatureEnvironment, ListPendingOfFeature, strategySentence } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { IconButton } from '../../components/buttons/button.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import {
  setEnvironmentPreference,
  shownEnvironments,
  useEnvironmentPreference,
} from '../../components/environments/environment-preference.ts';
import { formatCount } from '../../text/format-number.ts';
import { Sparkline, useRecentUsage } from '../flags/recent-usage.tsx';
import styles from './flag.module.css';

/** More environments than this stand below each other, with one of them open. */
const maxSideBySide = 5;

/** How an environment is shown among many: as a line, or open. */
export interface EnvironmentFold {
  readonly isOpen: boolean;
  readonly isPinned: boolean;
  readonly toggle: () => void;
  readonly togglePin: () => void;
  /** whether an open change request changes the flag in it */
  readonly isWaiting: boolean;
  readonly usage: { readonly yes: readonly number[]; readonly no: readonly number[] } | undefined;
}

/**
 * The environments of a flag that a person sees, and how each is folded where there are many. The one is open that the address names
 * (`#production`), or else that the person opened last, or production; pinned ones are always open.
 */
export function useEnvironmentFolds({ name: feature, environments = [] }: Feature, project: string) {
  const preference = useEnvironmentPreference();
  const navigate = useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  const linked = environments.find(({ name }) => name === hash)?.name;
  const preferred = shownEnvironments(environments, preference);
  // A link leads to what its reader has hidden as well.
  const shown = environments.filter((one) => preferred.includes(one) || one.name === linked);
  const ordered = linked === undefined || preferred.length === shown.length ? preferred : shown;
  const isFolded = ordered.length > maxSideBySide;
  const usageOf = useRecentUsage([[{ name: feature }]], isFolded);
  const { data: pending = [] } = useQuery(
    operationQuery(ListPendingOfFeature, { params: { projectId: project, featureName: feature } }),
  );
  // What this page itself writes into the address is no link that was followed.
  const [written, setWritten] = useState<string>();
  const { open, pinned = [] } = preference;
  const known = ordered.find(({ name }) => name === (linked ?? open))?.name;
  const opened =
    known ?? (open === '' ? undefined : (ordered.find(({ type }) => type === 'production') ?? ordered[0])?.name);
  const setOpen = (name: string): void => {
    setWritten(name);
    setEnvironmentPreference({ ...preference, open: name });
    void navigate({ to: '.', search: true, hash: name, replace: true, resetScroll: false, hashScrollIntoView: false });
  };
  const foldOf = ({ name }: FeatureEnvironment): EnvironmentFold => ({
    isOpen: name === opened || pinned.includes(name),
    isPinned: pinned.includes(name),
    toggle: () => setOpen(name === opened ? '' : name),
    togglePin: () =>
      setEnvironmentPreference({
        ...preference,
        pinned: pinned.includes(name) ? pinned.filter((other) => other !== name) : [...pinned, name],
      }),
    isWaiting: pending.some(({ environment }) => environment === name),
    usage: usageOf(feature, name),
  });
  const isFollowed = linked !== undefined && written !== linked;
  return { shown: ordered, foldOf: isFolded ? foldOf : undefined, followed: isFollowed ? linked : undefined };
}

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
  readonly environment: FeatureEnvironment;
  readonly isProtected: boolean;
  readonly fold: EnvironmentFold;
  readonly segmentNames: ReadonlyMap<number, string>;
}

/** The line of an environment among many: a press opens it, and says there what the flag does. */
export function FoldHead({ environment, isProtected, fold, segmentNames }: FoldHeadProps) {
  const { name, type, enabled } = environment;
  const { isOpen, isPinned, usage } = fold;
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
