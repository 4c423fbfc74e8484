import { implement } from '@bunting/bus';
import { GetEventLogSize } from '@bunting/contracts';
import type { LogSize } from '../../persistence/log/log-size.ts';

export const getEventLogSizeEndpoint = (size: () => Promise<LogSize>, retentionDays: number | undefined) =>
  implement(GetEventLogSize, async () => {
    const { bytes, partitions, ...log } = await size();
    return { ...log, retentionDays: retentionDays ?? null, bytes, partitions: [...partitions] };
  });
