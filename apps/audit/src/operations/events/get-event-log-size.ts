import { implement } from '@bunting/bus';
import { GetEventLogSize } from '@bunting/contracts';
import type { AuditContext } from '../context.ts';

export const getEventLogSizeEndpoint = ({ logSize, retentionDays }: AuditContext) =>
  implement(GetEventLogSize, async () => {
    const { bytes, partitions, ...log } = await logSize();
    return { ...log, retentionDays: retentionDays ?? null, bytes, partitions: [...partitions] };
  });
