import { implement } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';

export const setProtectionEndpoint = (work: UnitOfWork) =>
  implement(SetProtection, (asked) =>
    work(asked, async ({ protection }) => {
      await protection.set(asked.body);
      return null;
    }),
  );
