import { Button } from '../components/buttons/button.tsx';
import { Notice } from '../components/content/notice.tsx';
import type { EditProtection } from './use-edit-protection.ts';

const areProtected = (environments: readonly string[]): string =>
  `${environments.join(' and ')} ${environments.length === 1 ? 'is' : 'are'} protected`;

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
      {environment} is protected: this becomes part of your change request. You have the permission to skip change
      requests, and can also do it directly, without approval.
    </Notice>
  );

/** Explains the effect of protected environments on an edit: it becomes a proposal, or it applies directly and could be proposed instead. */
export const ProtectionNotice = ({
  protection: { environments, maySkip },
  isPending,
  onPropose,
}: ProtectionNoticeProps) => {
  if (environments.length === 0) return null;
  if (!maySkip)
    return (
      <Notice>
        {areProtected(environments)}: this becomes part of your change request, and takes effect when that is approved
        and applied.
      </Notice>
    );
  return (
    <Notice
      tone="warning"
      actions={
        <Button size="small" isPending={isPending} onPress={onPropose}>
          Propose it instead
        </Button>
      }
    >
      {areProtected(environments)}. You have the permission to skip change requests: this applies directly, without
      approval.
    </Notice>
  );
};
