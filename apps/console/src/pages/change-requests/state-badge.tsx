import type { ChangeRequestSchedule, ChangeRequestState } from '@bunting/contracts';
import { Badge } from '../../components/content/badge.tsx';

const tones = {
  Draft: 'neutral',
  'In review': 'accent',
  Approved: 'good',
  Applied: 'good',
  Cancelled: 'neutral',
  Rejected: 'danger',
  Scheduled: 'accent',
} as const;

interface StateBadgeProps {
  readonly state: ChangeRequestState;
  readonly schedule?: ChangeRequestSchedule | undefined;
}

/** The state of a change request; for a scheduled one, the status of its schedule, which is marked if it failed or is suspended. */
export function StateBadge({ state, schedule }: StateBadgeProps) {
  return (
    <Badge tone={schedule !== undefined && schedule.status !== 'pending' ? 'danger' : tones[state]}>
      {schedule === undefined || state !== 'Scheduled'
        ? state
        : ({ pending: 'Scheduled', failed: 'Schedule failed', suspended: 'Schedule suspended' }[schedule.status] ??
          schedule.status)}
    </Badge>
  );
}
