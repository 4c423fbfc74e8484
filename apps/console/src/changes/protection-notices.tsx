import { Button } from '../components/buttons/button.tsx';
import { Notice } from '../components/content/notice.tsx';
import { protectionMessages as text } from '../messages/protection.ts';
import type { EditProtection } from './use-edit-protection.ts';

interface ProtectionNoticeProps {
  readonly protection: EditProtection;
  readonly isPending: boolean;
  /** proposes the edit, where the user could also make it directly */
  readonly onPropose: () => void;
}

interface SkipChangeRequestNoticeProps {
  readonly protection: EditProtection;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  /** the button that makes the edit without a change request */
  readonly label: string;
  readonly onDirect: () => void;
}

/** Offers an edit without a change request, where it would be proposed and the user may skip that. */
export const SkipChangeRequestNotice = ({
  protection: {
    environments: [environment],
    isDirect,
  },
  isPending,
  isDisabled = false,
  label,
  onDirect,
}: SkipChangeRequestNoticeProps) =>
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
