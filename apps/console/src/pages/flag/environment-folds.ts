import { type Feature, type FeatureEnvironment, ListPendingOfFeature } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import {
  setEnvironmentPreference,
  shownEnvironments,
  useEnvironmentPreference,
} from '../../components/environments/environment-preference.ts';

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
  });
  const isFollowed = linked !== undefined && written !== linked;
  return { shown: ordered, foldOf: isFolded ? foldOf : undefined, followed: isFollowed ? linked : undefined };
}
