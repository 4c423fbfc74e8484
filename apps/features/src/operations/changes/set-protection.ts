import { implement } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const setProtectionEndpoint = ({ work }: FeaturesContext) =>
  implement(SetProtection, (asked) =>
    work(asked, async ({ protection }) => {
      await protection.set(asked.body);
      return null;
    }),
  );
