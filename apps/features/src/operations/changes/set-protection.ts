import { implement } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const setProtectionEndpoint = ({ transaction }: FeaturesContext) =>
  implement(SetProtection, (request) =>
    transaction(request, ({ protectionCopy }) => protectionCopy.setIfNewer(request.body)),
  );
