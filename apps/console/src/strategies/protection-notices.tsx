import { useQuery } from '@tanstack/react-query';
import { usePermissionCheck } from '../api/permission-check.ts';
import { Button } from '../components/buttons/button.tsx';
import { Notice } from '../components/content/content.tsx';
import { protectionMessages as text } from '../messages/protection.ts';
import { configOf, protectedIn } from './protection.ts';

export interface Protection {
  /** what is protected is still being read: an edit has to wait for it */
  readonly isLoading: boolean;
  /** the protected environments that the edit touches; it becomes part of a change request of the first */
  readonly environments: readonly string[];
  /** whether the user may edit all of them without a change request */
  readonly maySkip: boolean;
  /** whether an edit that is not proposed goes past a change request, as the user has been told */
  readonly isDirect: boolean;
}

/** Whether an edit of flags of a project needs a change request: in one environment, or without `inEnvironment` in all of them. */
export const useProtection = (project: string, inEnvironment?: string): Protection => {
  const { data, isPending } = useQuery(configOf(project));
  const may = usePermissionCheck();
  const environments = protectedIn(data ?? []).filter((name) => inEnvironment === undefined || name === inEnvironment);
  const maySkip = environments.every((environment) => may('SKIP_CHANGE_REQUEST', { project, environment }));
  return { isLoading: isPending, environments, maySkip, isDirect: maySkip && environments.length > 0 };
};

interface ProtectionNoticeProps {
  readonly protection: Protection;
  readonly isPending: boolean;
  /** proposes the edit, where the user could also make it directly */
  readonly onPropose: () => void;
}

interface DirectNoticeProps {
  readonly protection: Protection;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  /** the button that makes the edit without a change request */
  readonly label: string;
  readonly onDirect: () => void;
}

/** Offers an edit without a change request, where it would be proposed and the user may skip that. */
export const DirectNotice = ({
  protection: {
    environments: [environment],
    isDirect,
  },
  isPending,
  isDisabled = false,
  label,
  onDirect,
}: DirectNoticeProps) =>
  environment !== undefined &&
  isDirect && (
    <Notice
      actions={
        <Button size="small" isPending={isPending} isDisabled={isDisabled} onPress={onDirect}>
          {label}
        </Button>
      }
    >
      {text.mayBeDirect(environment)}
    </Notice>
  );

/** Explains the effect of protected environments on an edit: it becomes a proposal, or it applies directly and could be proposed instead. */
export const ProtectionNotice = ({
  protection: { environments, maySkip },
  isPending,
  onPropose,
}: ProtectionNoticeProps) => {
  if (environments.length === 0) return null;
  if (!maySkip) return <Notice>{text.isProposed(environments)}</Notice>;
  return (
    <Notice
      tone="warning"
      actions={
        <Button size="small" isPending={isPending} onPress={onPropose}>
          {text.proposeInstead}
        </Button>
      }
    >
      {text.appliesDirectly(environments)}
    </Notice>
  );
};
